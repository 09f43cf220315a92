"""Every message about plugins is explained: the page has each code, each way to be bad, each forbidden call and each
case of conformance, in the words that programs say."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hosts" / "tenon"))

from bad_plugins_test import WAYS  # noqa: E402

PAGE = SOURCE / "sdk" / "docs" / "messages.md"
CORE = SOURCE / "kernel" / "core" / "plugin"
# What stands in the place of {} in the messages that the page quotes.
VALUES = (r"tenon_plugin_1|SIG[A-Z]+|exit code|20 s|\b8\b|GLIBC_|C\+\+ ABI|\bnewer\b(?= than)|\bolder\b"
          r"|\binput$|\boutput$|^calls .*")


def section(text, title):
    """The text below a heading, up to the next one that is no deeper."""
    begin = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    end = re.search(rf"^#{{1,{len(begin[1])}}} ", text[begin.end() :], re.MULTILINE)
    return text[begin.end() :][: end.start() if end else None]


def rows(text):
    """The first cell of each row of a table, and the row."""
    for line in text.splitlines():
        if line.startswith("| `"):
            yield line.split(" | ")[0], line


def explained(text):
    """Codes, names of cases and words of messages that begin a row."""
    return {name for cell, _ in rows(text) for name in re.findall(r"`([^`]+)`", cell)}


def said_by_programs():
    """All texts in the sources, each whole as the compiler joins it, and those of CMake."""
    texts = []
    for folder in ("kernel", "plugin_api", "hosts", "sdk/describe", "sdk/conformance", "sdk/harness"):
        for file in (SOURCE / folder).rglob("*.[ch]pp"):
            for joined in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+|R"\((?:.*?)\)"', file.read_text()):
                texts.append("".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined)).replace('\\"', '"'))
    texts += [file.read_text() for file in (SOURCE / "sdk" / "cmake").glob("*.cmake")]
    return "\n".join(texts)


def codes():
    """Every code that the kernel gives to a finding about a plugin."""
    found = set()
    for file in [*CORE.glob("*.cpp"), SOURCE / "kernel/probe/main.cpp", SOURCE / "hosts/tenon/host/locking.cpp"]:
        text = file.read_text()
        found |= set(re.findall(r'\b(?:Refusal|error|warning)[({]\s*"([a-z]+(?:-[a-z]+)*)"', text))
        found |= set(re.findall(r'^  return \{"([a-z]+(?:-[a-z]+)*)",', text, re.MULTILINE))
        for line in re.findall(r"verdict\.code = .*", text):
            found |= set(re.findall(r'"([a-z-]+)"', line))
    return found


class MessagesTest(unittest.TestCase):
    def setUp(self):
        self.text = PAGE.read_text()
        self.explained = explained(self.text)

    def test_every_code_of_a_finding_is_explained(self):
        found = codes()
        self.assertGreaterEqual(len(found), 30, found)
        self.assertIn("hung", found)
        self.assertEqual(found - self.explained, set())

    def test_every_way_to_be_bad_is_explained(self):
        for name, way in WAYS.items():
            with self.subTest(way=name):
                self.assertTrue(way.code in self.explained, f"{way.code} is not explained")
        self.assertLessEqual({"duplicate-id", "duplicate-component", "duplicate-namespace"}, self.explained)

    def test_what_the_page_quotes_is_what_programs_say(self):
        said = said_by_programs()
        checked = 0
        for cell, row in rows(self.text):
            cells = row.strip("| ").split(" | ")
            for quote in re.findall(r"`([^`]+)`", " ".join(cells[:-1])):
                for piece in re.split("…", re.sub(VALUES, "…", quote)):
                    piece = piece.strip(" ,:;\"()")
                    if " " not in piece:  # a name or a code
                        continue
                    checked += 1
                    with self.subTest(row=cell, quote=quote):
                        self.assertIn(piece, said)
        self.assertGreater(checked, 150)

    def test_every_case_of_conformance_is_explained(self):
        listed = subprocess.run([BUILD / "bin" / "tenon", "plugins", "check", "--list", "--format", "json"],
                                capture_output=True, text=True, check=True)
        cases = {each["case"] for each in json.loads(listed.stdout)}
        self.assertGreater(len(cases), 40)
        told = explained(section(self.text, "Cases of plugins check"))
        self.assertEqual(cases - told, set())
        named = {name for name in told if re.fullmatch(r"[a-z]+\.[a-z]+", name)}
        self.assertEqual(named - cases, set(), "no such case")

    def test_every_call_that_a_plugin_must_not_make_is_explained(self):
        lint = (SOURCE / "sdk" / "describe" / "lint.cpp").read_text()
        names = set(re.findall(r'Rule\{"[^"]+",\s*"([^"]+)"', lint))
        self.assertGreater(len(names), 25)
        told = " ".join(cell for cell, _ in rows(section(self.text, "While it is built")))
        for name in sorted(names):
            with self.subTest(name):
                self.assertRegex(told, rf"`(calls )?{re.escape(name)}`")

    def test_every_row_has_a_cure(self):
        for _, row in rows(section(self.text, "Cases of plugins check")):
            with self.subTest(row[:60]):
                self.assertGreater(len(row.strip(" |").split(" | ")[-1]), 15)

    def test_what_is_not_explained_is_found_out(self):
        left = [row for row in self.text.splitlines() if not row.startswith("| `state.restored`")]
        without = "\n".join(left)
        self.assertEqual(self.explained - explained(without), {"state.restored"})


if __name__ == "__main__":
    unittest.main()
