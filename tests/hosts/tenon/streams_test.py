"""Results on standard output, messages on standard error, colours only for people."""

import os
import subprocess
import unittest

from program import PROGRAM, ProgramTest

ESCAPE = "\x1b["
WRONG = ["check", "digits.json", "--set", "vars.rl=1"]
RESULTS = [["help"], ["check", "digits.json"], ["explain", "digits.json"], ["plugins", "list"],
           ["plugins", "show", "adamw"]]


class StreamsTest(ProgramTest):
    def test_results_and_messages_keep_apart(self):
        for words in RESULTS:
            with self.subTest(words=words):
                code, out, err = self.tenon(*words)
                self.assertEqual((code, err), (0, ""))
                self.assertTrue(out.endswith("\n"))
        code, out, err = self.tenon(*WRONG)
        self.assertEqual((code, out), (2, ""))
        self.assertTrue(err.endswith("\n"))

    def test_what_is_piped_has_neither_colours_nor_carriage_returns(self):
        for words in RESULTS + [WRONG, ["chekc"]]:
            with self.subTest(words=words):
                outcome = self.tenon(*words)
                self.assertNotIn(ESCAPE, outcome.out + outcome.err)
                self.assertNotIn("\r", outcome.out + outcome.err)

    def test_color_always_and_never(self):
        self.assertIn(ESCAPE, self.tenon(*WRONG, "--color", "always").err)
        self.assertIn(ESCAPE, self.tenon(*WRONG, "--color", "always", env={"NO_COLOR": "1"}).err)
        self.assertIn(ESCAPE, self.tenon("plugins", "list", "--color", "always").out)
        self.assertNotIn(ESCAPE, self.tenon_on_terminal(*WRONG, "--color", "never").out)

    def test_a_terminal_gets_colours_unless_no_color_is_set(self):
        for words in (WRONG, ["help"], ["plugins", "list"], ["explain", "digits.json"]):
            with self.subTest(words=words):
                self.assertIn(ESCAPE, self.tenon_on_terminal(*words).out)
                self.assertNotIn(ESCAPE, self.tenon_on_terminal(*words, env={"NO_COLOR": "1"}).out)
                self.assertNotIn(ESCAPE, self.tenon_on_terminal(*words, env={"TERM": "dumb"}).out)
                self.assertIn(ESCAPE, self.tenon_on_terminal(*words, env={"NO_COLOR": ""}).out)

    def test_colours_change_no_letter(self):
        for words in RESULTS:
            with self.subTest(words=words):
                painted = self.tenon(*words, "--color", "always").out if words != ["help"] else ""
                for style in ("0", "1", "2", "1;31", "1;32", "1;33", "1;34"):
                    painted = painted.replace(f"{ESCAPE}{style}m", "")
                if painted:
                    self.assertEqual(painted, self.tenon(*words).out)

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "wb") as full:
            code, _, err = self.tenon("explain", "digits.json", stdout=full)
        self.assertEqual(code, 10)
        self.assertIn("error[storage]: cannot write to standard output: No space left on device", err)

    def test_a_reader_that_goes_away_leaves_no_complaint(self):
        read, write = os.pipe()
        process = subprocess.Popen(
            [PROGRAM, "explain", "digits.json", "--format", "json"],
            cwd=self.folder, env=self.environment(), stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        os.close(read)
        self.assertEqual(process.communicate(timeout=60)[1], b"")

    def test_who_reads_the_progress_may_leave_and_training_goes_on(self):
        code, _, err = self.tenon("run", "digits.json", "--set", "vars.epochs=3", "--interrupt-at", "5")
        self.assertEqual(code, 75, err)
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen(
            [PROGRAM, "run", "digits.json", "--set", "vars.epochs=3", "--resume", "auto"], cwd=self.folder,
            env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write)
        os.close(write)
        self.assertEqual(process.wait(60), 0)
        log = (self.folder / "runs/digits/0001/log.jsonl").read_text()
        self.assertIn('"event":"run_end","step":51', log)

    def test_words_that_are_no_text_do_no_harm(self):
        for words in (["check", b"\xff\xfe.json"], ["check", "digits.json", "--set", b"vars.lr=\xff"],
                      [b"\xff\xff"], ["explain", "digits.json", b"/\xff"]):
            with self.subTest(words=words):
                code, out, err = self.tenon(*words)
                self.assertEqual((code, out), (2, ""))
                self.assertTrue(err.startswith("error"), err)


if __name__ == "__main__":
    unittest.main()
