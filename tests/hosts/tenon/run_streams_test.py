"""What `tenon run` says while it trains: a bar on a terminal, bounded lines elsewhere, JSON or nothing when asked."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import unittest

from program import PROGRAM, TIME_LIMIT, ProgramTest

SHORT = ["--set", "vars.epochs=3", "--set", "export=[]", "--set", "nodes.script.disabled=true"]
STYLE = re.compile(r"\x1b\[[0-9;]*m")
ERASE = "\r\x1b[2K"
HEADING = "digits is trained\n"


class Terminal:
    """A pseudo terminal of some size whose text is collected."""

    def __init__(self, columns):
        self.main, self.side = pty.openpty()
        self.resize(columns)
        self.shown = b""
        self.reader = threading.Thread(target=self.read)

    def resize(self, columns):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self):
        try:
            while chunk := os.read(self.main, 65536):
                self.shown += chunk
        except OSError:  # the other side is closed
            pass

    def text_of(self, process):
        os.close(self.side)
        self.reader.start()
        self.reader.join(TIME_LIMIT)
        os.close(self.main)
        if process.wait(TIME_LIMIT) != 0:
            raise AssertionError(self.shown.decode())
        return self.shown.decode().replace("\r\n", "\n")


class RunStreamsTest(ProgramTest):
    def run_digits(self, *options, env=None):
        return self.tenon("run", "digits.json", *SHORT, *options, env=env)

    def on_terminal(self, *options, columns=100, env=None):
        """Standard error is the terminal. Gives what it shows, and the results."""
        terminal = Terminal(columns)
        process = subprocess.Popen(
            [PROGRAM, "run", "digits.json", *SHORT, *options], cwd=self.folder,
            env=self.environment(LC_ALL="C", **(env or {})), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=terminal.side)
        shown = terminal.text_of(process)
        with process.stdout:
            return shown, process.stdout.read().decode()

    def bars(self, shown):
        """Each drawing of the progress line, as it looks: whatever is written next erases it."""
        return [STYLE.sub("", text) for text in shown.split(ERASE)[1:-1] if "\n" not in text]

    # --- on a terminal

    def test_a_terminal_gets_a_bar_with_all_that_one_asks(self):
        shown, _ = self.on_terminal()
        bars = self.bars(shown)
        self.assertTrue(bars, shown)
        for part in (r"^[#.]{4,16}  epoch [123]/3  step +\d+/51  ", r"  loss \d", r"  \d+(\.\d+)? s left", r"  \d+/s",
                     r"  wait +\d+ %$"):
            self.assertRegex(bars[0], part)
        self.assertTrue(shown.endswith(" s\x1b[0m\n"), "the bar is still there at the end")
        self.assertLess(len(bars), 60, "redrawn too often")

    def test_a_narrow_terminal_breaks_no_line_of_the_bar(self):
        for columns in (60, 16):
            with self.subTest(columns=columns):
                shown, _ = self.on_terminal(columns=columns)
                bars = self.bars(shown)
                self.assertTrue(bars, shown)
                self.assertLess(max(map(len, bars)), columns)
                self.assertRegex(bars[0], r"^epoch 1/3$" if columns == 16 else r"^[#.]{4,}  epoch 1/3  step ")

    def test_colours_obey_the_environment_and_the_option(self):
        for env, options in (({"NO_COLOR": "1"}, []), ({"CLICOLOR": "0"}, []), ({}, ["--color", "never"])):
            with self.subTest(env=env, options=options):
                shown, _ = self.on_terminal(*options, env=env)
                self.assertNotRegex(shown, STYLE)
                self.assertIn(ERASE, shown, "the bar needs no colours")
        self.assertRegex(self.on_terminal()[0], STYLE)

    def test_a_terminal_that_cannot_redraw_or_that_nobody_sees_gets_plain_lines(self):
        for env in ({"TERM": "dumb"}, {"CI": "true"}):
            with self.subTest(env=env):
                shown, _ = self.on_terminal(env=env)
                self.assertNotIn("\r", shown)
                self.assertNotIn("\x1b", shown)
                self.assertIn("epoch 3/3  step 51/51", shown)

    # --- elsewhere

    def test_a_pipe_gets_plain_lines(self):
        code, out, err = self.run_digits()
        self.assertEqual(code, 0, err)
        self.assertNotRegex(out + err, "[\r\x1b]")
        self.assertRegex(err, r"(?m)^epoch 1/3  step 17/51  loss \S+  saved  acc \S+( best)?")

    def test_colours_that_are_asked_for_reach_a_pipe(self):
        _, out, err = self.run_digits(env={"CLICOLOR_FORCE": "1"})
        self.assertRegex(out, STYLE)
        self.assertRegex(err, STYLE)
        self.assertNotIn("\r", out + err)
        _, out, err = self.run_digits(env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"})
        self.assertNotIn("\x1b", out + err)

    def test_a_long_run_has_some_200_lines(self):
        self.demo(lambda pipeline: pipeline.update(
            {"checkpoint": {"every": "1 step", "keep": {"last": 1}}, "stop": [], "export": []}), "digits.json")
        code, _, err = self.tenon("run", "digits.json", "--set", "vars.epochs=40", "--set", 'validate.every="5 steps"')
        self.assertEqual(code, 0, err)
        log = (self.folder / "runs/digits/0001/log.jsonl").read_text()
        self.assertGreater(log.count('"event":"checkpoint"'), 600)
        self.assertLess(len(err.splitlines()), 200)
        self.assertIn("step 680/680", err)
        self.assertNotIn("\r", err)

    # --- when asked

    def test_quiet_leaves_the_table_alone(self):
        code, out, err = self.run_digits("--quiet")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith(HEADING), out)
        self.assertIn("test accuracy", out)
        self.assertNotIn("What next", out)
        shown, out = self.on_terminal("--quiet")
        self.assertEqual(shown, "")
        self.assertTrue(out.startswith(HEADING), out)

    def test_quiet_keeps_errors_and_warnings(self):
        code, out, err = self.run_digits("--quiet", "--set", "nodes.opt.with.rl=1")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("1 error; nothing was started", err)
        code, out, err = self.run_digits("--quiet", "--set", "nodes.script.disabled=false")
        self.assertEqual(code, 0, err)
        self.assertTrue(err.startswith("warning[unused-exporter]"), err)
        self.assertTrue(err.endswith("\n1 warning\n"), err)

    def test_quiet_says_why_a_run_ends_early(self):
        code, out, err = self.run_digits("--quiet", "--interrupt-at", "5")
        self.assertEqual((code, out), (75, ""))
        self.assertIn("Interrupted by SIGTERM at step 5; saved: runs/digits/0001/checkpoints/step-000005\n", err)
        code, _, err = self.run_digits("--quiet", "--resume", "auto")
        self.assertEqual((code, err), (0, ""))

    def test_quiet_leaves_observers_alone_that_the_pipeline_names(self):
        observed = ["--set", 'observe=[{"use": "observer:console"}]']
        _, out, loud = self.run_digits(*observed)
        _, quiet_out, quiet = self.run_digits(*observed, "--quiet")
        numbers = re.compile(r"\d+(\.\d+)?( s|/0|000[12]| samples)|runs.*|^loader .*\n", re.MULTILINE)
        self.assertEqual(numbers.sub("", loud), numbers.sub("", quiet))
        self.assertIn("What next", out)
        self.assertNotIn("What next", quiet_out)

    def test_json_makes_all_of_standard_error_json(self):
        for options, code in (([], 0), (["--interrupt-at", "5"], 75), (["--resume", "auto"], 0),
                              (["--quiet", "--set", "vars.rl=1"], 2)):
            with self.subTest(options=options):
                outcome = self.run_digits("--log-format", "json", *options)
                self.assertEqual(outcome.code, code, outcome.err)
                lines = [json.loads(line) for line in outcome.err.splitlines()]
                events = [line["event"] for line in lines if "event" in line]
                self.assertEqual(bool(events), code != 2)
                if code == 2:
                    self.assertEqual([line["level"] for line in lines], ["error"])
                if code == 0:
                    self.assertEqual((events[-1], events.count("run_start")), ("run_end", 1))
                    self.assertIn(HEADING, outcome.out)
        shown, _ = self.on_terminal("--log-format", "json", "--set", 'observe=[{"use": "observer:console"}]')
        for line in shown.splitlines():
            self.assertIn("event", json.loads(line))
        self.assertEqual(self.run_digits("--log-format", "json", "--quiet")[::2], (0, ""))

    def test_what_is_said_changes_nothing_of_the_run(self):
        ways = [[], ["--quiet"], ["--log-format", "json"], ["--log-format", "json", "--quiet", "--color", "always"]]
        for options in ways:
            code, _, err = self.run_digits(*options)
            self.assertEqual(code, 0, err)
        first, *others = sorted((self.folder / "runs/digits").iterdir())
        self.assertEqual(len(others), len(ways) - 1)
        same = ["config.resolved.json", *(str(path.relative_to(first)) for path in first.glob("checkpoints/*/*"))]
        self.assertGreater(len(same), 4)
        for other in others:
            for name in same:
                self.assertEqual((first / name).read_bytes(), (other / name).read_bytes(), name)

    def test_who_goes_on_otherwise_hears_of_no_change(self):
        self.run_digits("--interrupt-at", "5", "--quiet")
        code, _, err = self.run_digits("--resume", "auto", "--color", "always")
        self.assertEqual(code, 0, err)
        plain = STYLE.sub("", err)
        self.assertRegex(plain, r"^Resuming runs/digits/0001 at step 5\n/\S+/0001\ntraining goes on at step  5/51\n")

    def test_a_format_that_is_not_there_is_refused(self):
        code, out, err = self.run_digits("--log-format", "xml")
        self.assertEqual((code, out), (2, ""))
        self.assertIn('--log-format takes text or json, not "xml"', err)


if __name__ == "__main__":
    unittest.main()
