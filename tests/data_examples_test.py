"""The examples on data that a script makes: trained to the stated result, the same bytes for any number of loader threads
and over an interruption, checked and shown."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
EXAMPLES = pathlib.Path(os.environ["TENON_SOURCE_DIR"]) / "sdk" / "examples"
PROGRAM = BUILD / "bin" / "tenon"
TIME_LIMIT = 300  # seconds: far more than anything here takes

# What the first comment of each file states; what data it needs; what makes a proof of it short.
STATED = {
    "image-folder": {"test.acc": 0.9},
    "segmentation": {"test.iou": 0.6},
    "tar-shards": {"test.acc": 0.9},
    "windows": {"test.r2": 0.98},
    "large-table": {"test.r2": 0.9},
    "tokens": {"validate.acc": 0.3},
}
SHORT = {
    "image-folder": ["vars.epochs=1"],
    "segmentation": ["vars.epochs=1"],
    "tar-shards": ["vars.epochs=1"],
    "windows": ["vars.epochs=1"],
    "large-table": ["nodes.train.with.batch=2048"],
    "tokens": ["fit.epochs=1"],
}


class DataExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import PIL  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("Python has no Pillow") from None
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        shutil.copytree(EXAMPLES / "pipelines", cls.folder / "pipelines")
        (cls.folder / "data").mkdir()
        shutil.copy(EXAMPLES / "data" / "make_data.py", cls.folder / "data")
        cls.run_program([sys.executable, cls.folder / "data" / "make_data.py", "--rows", "60000"])

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_program(cls, arguments):
        done = subprocess.run(arguments, cwd=cls.folder, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return done

    def tenon(self, command, name, *arguments):
        return self.run_program([PROGRAM, *command.split(), self.folder / "pipelines" / f"{name}.jsonc", *arguments])

    def short(self, name):
        return [word for each in SHORT[name] for word in ("--set", each)]

    def test_each_states_its_result_and_reaches_it(self):
        for name, bounds in STATED.items():
            with self.subTest(name):
                text = (self.folder / "pipelines" / f"{name}.jsonc").read_text()
                stated = " ".join(re.findall("^// (.*)$", text, re.MULTILINE)).partition("Stated result:")[2]
                self.tenon("run", name, "--quiet", "--outcome", "outcome.json")
                outcome = json.loads((self.folder / "outcome.json").read_text())
                values = outcome["validation"] | outcome["test"]
                for key, bound in bounds.items():
                    self.assertRegex(stated, rf"\b{re.escape(str(bound))}\b", f"{name}: {key}")
                    print(f"figure: {name} {key} {values[key]:.4f}, stated {bound}", flush=True)
                    self.assertGreaterEqual(values[key], bound, f"{name}: {key}")

    def test_any_number_of_loader_threads_gives_the_same_bytes(self):
        for name in STATED:
            with self.subTest(name):
                self.tenon("verify repro", name, *self.short(name))

    def test_a_run_that_was_interrupted_gives_the_bytes_of_one_that_was_not(self):
        for name in STATED:
            with self.subTest(name):
                self.tenon("verify resume", name, "--at", "3,end", *self.short(name))

    def test_the_data_of_each_are_found_sound_and_shown(self):
        for name in STATED:
            with self.subTest(name):
                self.tenon("data check", name)
                shown = self.tenon("data show", name, *self.picture(name))
                if self.picture(name):
                    self.assertEqual((self.folder / f"{name}.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
                else:
                    self.assertTrue(shown.stdout.strip())

    def picture(self, name):
        return ["--out", f"{name}.png"] if name in ("image-folder", "segmentation", "tar-shards") else []


if __name__ == "__main__":
    unittest.main()
