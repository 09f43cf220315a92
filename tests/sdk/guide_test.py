"""The guide for authors of plugins can be followed: its files build and pass their tests, its components keep the
contract, its pipelines run, its commands do what they are said to do."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

os.umask(0o022)  # a plugin that its group may write to is not trusted

SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "hosts" / "tenon")]

from docs_test import blocks, command_lines  # noqa: E402
from program import ProgramTest  # noqa: E402

DOCS = SOURCE / "sdk" / "docs"
GUIDE = DOCS / "plugins.md"
KINDS = sorted((DOCS / "kinds").glob("*.md"))
WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
# One file over libtorch's headers instead of eight.
KINDS_PROJECT = """cmake_minimum_required(VERSION 3.25)
project(kinds LANGUAGES CXX)
find_package(Tenon REQUIRED)
tenon_add_plugin(kinds ID org.example.kinds VERSION 1.0.0 TORCH)
set_target_properties(kinds_raw PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
"""


def file_of(block):
    """The file that a block is, which its first line names: // flip.cpp: …"""
    named = re.match(r"(?://|#) ([\w.]+\.(?:cpp|jsonc|txt)): ", block)
    return named and named[1]


def code_of(pages):
    """Files, and blocks that are only a part of one."""
    files, parts = {}, []
    for page in pages:
        for line, block in blocks(page, "cpp"):
            if file_of(block):
                files[file_of(block)] = block
            else:
                parts.append((page.name, line, block))
    return files, parts


def call(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


class GuideTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.work = pathlib.Path(scratch.name)
        call("cmake", "--install", BUILD, "--prefix", cls.work / "prefix")
        photo, _ = code_of([GUIDE])
        photo["CMakeLists.txt"] = "".join(block for _, block in blocks(GUIDE, "cmake"))
        kinds, _ = code_of(KINDS)
        kinds["CMakeLists.txt"] = KINDS_PROJECT
        cls.build("photo", photo)
        cls.build("kinds", kinds, "-DCMAKE_BUILD_TYPE=Debug", optimise="-O0 -g0")

    @classmethod
    def build(cls, name, files, *options, optimise=""):
        (cls.work / name).mkdir()
        for file, text in files.items():
            (cls.work / name / file).write_text(text)
        ccache = shutil.which("ccache")
        if ccache:
            options = (*options, f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}")
        built = cls.work / f"build-{name}"
        call("cmake", "-S", cls.work / name, "-B", built, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={cls.work / 'prefix'}",
             f"-DCMAKE_CXX_FLAGS={WARNINGS} {optimise}", *options)
        call("cmake", "--build", built, "-j2")

    def setUp(self):
        super().setUp()
        (self.folder / "build").mkdir(mode=0o755)
        for name in ("photo", "kinds"):
            shutil.copy(self.work / f"build-{name}" / f"{name}.so", self.folder / "build")
        self.folder.chmod(0o755)

    def test_every_page_of_a_kind_has_an_example_of_that_kind(self):
        manifest = json.loads((self.work / "build-kinds" / "kinds.json").read_text())
        self.assertEqual(sorted({each["kind"] for each in manifest["components"]}), [page.stem for page in KINDS])

    def test_a_block_of_code_that_is_no_file_is_a_part_of_one(self):
        files, parts = code_of([GUIDE, *KINDS])
        for page, line, part in parts:
            with self.subTest(page=page, line=line):
                words = " ".join(part.split())
                self.assertTrue(any(words in " ".join(text.split()) for text in files.values()))

    def test_the_tests_of_the_guide_pass(self):
        shown = call("ctest", "--test-dir", self.work / "build-photo", "--output-on-failure")
        self.assertRegex(shown, r"100% tests passed.* out of 1")

    def test_what_the_guide_builds_keeps_the_contract(self):
        for name in ("photo", "kinds"):
            checked = self.tenon("plugins", "check", f"build/{name}.so", "--format", "json")
            cases = json.loads(checked.out)["cases"]
            self.assertEqual([each for each in cases if each["verdict"] in ("failed", "warned")], [])
            self.assertEqual(checked.code, 0)

    def test_the_pipelines_of_the_guide_run(self):
        short = ["--limit", "train=1,val=1,test=1", "--set", "vars.epochs=1", "--plugin-path", "build", "--quiet"]
        for page in [GUIDE, *KINDS]:
            for line, block in blocks(page, "jsonc"):
                with self.subTest(page=page.name, line=line):
                    overlay = self.write("overlay.jsonc", block)
                    words = ["digits.json", "--overlay", overlay]
                    checked = self.tenon("check", *words, "--plugin-path", "build", "--shapes")
                    self.assertEqual((checked.code, checked.err), (0, ""))
                    more = ["--no-preflight", "--set", "export=[]", "--set", "nodes.script=null"]
                    more = [] if page.stem == "exporter" else more
                    ran = self.tenon("run", *words, *short, *more)
                    self.assertEqual(ran.code, 0, ran.err)

    def test_the_commands_of_the_guide_can_be_followed_line_by_line(self):
        (self.folder / "release").mkdir()
        shutil.copy(self.folder / "build" / "photo.so", self.folder / "release")
        (named,) = [block for _, block in blocks(GUIDE, "jsonc") if file_of(block)]
        self.write(file_of(named), named)
        counted = 0
        for words in command_lines(GUIDE, sentences=False):
            with self.subTest(" ".join(words)):
                words = words[: words.index(">")] if ">" in words else words
                outcome = self.tenon(*words, env={"TENON_CACHE": str(self.work / "cache")})
                self.assertEqual(outcome.code, 0, outcome.out + outcome.err)
                counted += 1
        self.assertGreaterEqual(counted, 8)

    def test_what_is_said_of_refusals_is_so(self):
        shown = re.search(r"^```\n(error\[.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)[1]
        self.write("brighter.jsonc", shown.splitlines()[2].split("| ")[1] + "\n")
        wrong = self.check("brighter.jsonc")
        self.assertEqual(wrong.code, 2)
        self.assertTrue(wrong.err.startswith(shown), wrong.err)
        nodes = {"shift": {"use": "transform:invert", "in": "train_x"}, "train": {"in": "shift"},
                 "train_x": {"in": "train_set"}}
        wrong = self.check(self.write("behind.jsonc", json.dumps({"nodes": nodes})))
        self.assertEqual(wrong.code, 2)
        self.assertRegex(wrong.err, r"wants .image. as uint8\[\*\], but .train_x. gives float32")

    def check(self, overlay):
        return self.tenon("check", "digits.json", "--overlay", overlay, "--plugin-path", "build")


if __name__ == "__main__":
    if not shutil.which("cmake") or not shutil.which("ninja"):
        print("skipped: cmake or ninja is missing")
        sys.exit(77)
    unittest.main()
