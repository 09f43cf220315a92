"""Manual pages: one for each command, whole, and without complaints of those who read them."""

import re
import shutil
import subprocess
import unittest

from program import ProgramTest

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"]


class ManTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.readers = [name for name in ("man", "mandoc") if shutil.which(name)]

    def setUp(self):
        super().setUp()
        code, out, err = self.tenon("help", "--man", "--out", "pages")
        self.assertEqual((code, out, err), (0, "", ""))
        self.pages = {path.name: path.read_text() for path in (self.folder / "pages").iterdir()}
        overview = self.tenon("help").out
        self.commands = re.findall(r"^  ([a-z]+(?: [a-z]+)?)[^\n]*  +\w", overview, re.MULTILINE)

    def test_every_command_has_a_page_and_so_has_the_program(self):
        names = {f"tenon-{name.replace(' ', '-')}.1" for name in self.commands}
        self.assertGreater(len(names), 8)
        self.assertEqual(set(self.pages), names | {"tenon.1"})
        for command in self.commands:
            name = f"tenon-{command.replace(' ', '-')}"
            self.assertEqual(self.tenon("help", *command.split(), "--man").out, self.pages[f"{name}.1"])
            self.assertIn(name.replace("-", "\\-") + "\\fR(1)", self.pages["tenon.1"])
        self.assertEqual(self.tenon("help", "--man").out, self.pages["tenon.1"])

    def test_pages_are_built_of_sections_in_order(self):
        for name, page in self.pages.items():
            with self.subTest(page=name):
                self.assertTrue(page.isascii())
                self.assertRegex(page, r"\A\.TH [A-Z\\-]+ 1 ")
                found = re.findall(r"^\.SH (.*)$", page, re.MULTILINE)
                self.assertEqual([section for section in found if section in SECTIONS], SECTIONS)
                requests = set(re.findall(r"^\.(\S+)", page, re.MULTILINE))
                self.assertLessEqual(requests, {"TH", "SH", "TP", "PP", "BR", "nf", "fi", "br"})
                self.assertNotRegex(page, r"(?m)^'")

    def test_a_page_says_what_help_says(self):
        for command in self.commands:
            with self.subTest(command=command):
                page = self.pages[f"tenon-{command.replace(' ', '-')}.1"]
                plain = page
                for code, char in (("(aq", "'"), ("(ti", "~"), ("(ha", "^"), ("(ga", "`"), ("-", "-"), ("e", "\\")):
                    plain = plain.replace("\\" + code, char)
                plain = re.sub(r"\\\[u([0-9A-F]+)\]", lambda found: chr(int(found[1], 16)), plain)
                plain = re.sub(r"\\f[BIR]|\\\||\\&", "", plain)
                text = self.tenon(*command.split(), "--help").out
                for option in re.findall(r"^  (--[\w-]+(?: \S+)?)  ", text, re.MULTILINE):
                    self.assertIn(f"\n{option}\n", plain)
                for example in re.findall(r"^  (tenon .*)$", text[text.index("\nExamples") :], re.MULTILINE):
                    self.assertIn(f"\n{example}\n", plain)

    def test_readers_render_every_page_without_a_complaint(self):
        if not self.readers:
            self.skipTest("neither man nor mandoc is installed")
        for name in self.pages:
            for reader in self.readers:
                with self.subTest(page=name, reader=reader):
                    command = {
                        "man": ["man", "--warnings=w", "-E", "UTF-8", "-l", f"pages/{name}"],
                        "mandoc": ["mandoc", "-T", "utf8", f"pages/{name}"],
                    }[reader]
                    done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60,
                                          env=self.environment(MANWIDTH="100", MANPAGER="cat", LC_ALL="C.UTF-8"))
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    shown = re.sub(".\b", "", done.stdout)
                    for section in SECTIONS:
                        self.assertIn(section, shown)
                    self.assertNotIn("\\f", shown)
                    if name == "tenon-check.1":
                        self.assertIn("tenon check digits.json --overlay larger.json --format json", shown)

    def test_mandoc_has_no_warnings(self):
        if "mandoc" not in self.readers:
            self.skipTest("mandoc is not installed")
        files = [f"pages/{name}" for name in sorted(self.pages)]
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *files], cwd=self.folder, capture_output=True,
                              text=True, timeout=60)
        # A date would make every build another one.
        complaints = [line for line in done.stdout.splitlines() if "missing date" not in line]
        self.assertEqual(complaints, [])

    def test_mistaken_calls(self):
        for arguments, code, wanted in (
            (["--out", "x"], 2, "goes with --man"),
            (["run", "--man", "--out", "x"], 2, "without a COMMAND"),
            (["--man", "--out", ""], 2, "--out DIR"),
            (["plugins", "--man"], 2, "has several commands"),
            (["rum", "--man"], 2, 'did you mean "tenon run"?'),
            (["--man", "--out", "digits.json/pages"], 10, "Not a directory"),
        ):
            with self.subTest(arguments=arguments):
                done = self.tenon("help", *arguments)
                self.assertEqual((done.code, done.out), (code, ""))
                self.assertIn(wanted, done.err)


if __name__ == "__main__":
    unittest.main()
