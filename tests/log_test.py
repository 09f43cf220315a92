"""Every line of log.jsonl, and of --log-format json, is as schemas/log-1.schema.json says, however a run ends."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

# Ends this script, too, where there is no jsonschema.
from schema_documents import DEMO, GOOD, PROGRAM, SCHEMAS, VALIDATORS, read

SHORT = ("--set", "fit.epochs=2", "--set", 'nodes.sched.with.warmup="5 steps"')
NO_EXPORT = ("--set", "export=[]", "--set", "nodes.script.disabled=true")
BARE = GOOD / "small.json"  # neither validated, tested nor exported
TWO_LOSSES = ("--set", 'fit.loss={"loss": 0.7, "other": 0.3}', "--set",
              '+nodes.other={"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}}')
NAMED = ("--set", 'validate={"clean": {"data": "val", "metrics": ["acc"]}, "again": {"data": "val", "metrics": ["acc"]}}',
         "--set", 'checkpoint.keep.best.metric="validate.clean.acc"', "--set", "stop=[]")
STOPPED = ("--set", "vars.lr=1e-12", "--set", "vars.epochs=9", "--set",
           'stop=[{"use": "observer:patience", "with": {"metric": "acc", "patience": 1}}]')


class Run:
    """One run directory, what was written to standard error on the way, and the exit codes."""

    def __init__(self, folder, pipeline, *options):
        self.folder, self.pipeline, self.options = folder, pipeline, options
        self.err, self.codes = "", []

    def tenon(self, *more):
        done = subprocess.run(
            [PROGRAM, "run", self.pipeline, "--log-format", "json", "--set", f'run.dir="{self.folder}"',
             *self.options, *more],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False)
        self.err += done.stderr
        self.codes.append(done.returncode)
        return self

    @property
    def directory(self):
        (made,) = self.folder.glob("*/0001")
        return made

    @property
    def log(self):
        return (self.directory / "log.jsonl").read_text()


class Logs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        cls.runs = {
            "full": Run(folder / "full", DEMO, *SHORT).tenon(),
            "bare": Run(folder / "bare", BARE, "--set", "fit.epochs=1").tenon(),
            "two losses": Run(folder / "two", DEMO, *SHORT, *TWO_LOSSES, *NO_EXPORT).tenon(),
            "two validations": Run(folder / "named", DEMO, *SHORT, *NAMED, *NO_EXPORT).tenon(),
            "stopped early": Run(folder / "stopped", DEMO, *STOPPED, *NO_EXPORT).tenon(),
            "interrupted": Run(folder / "cut", DEMO, *SHORT).tenon("--interrupt-at", "20"),
            "resumed": Run(folder / "on", DEMO, *SHORT).tenon("--interrupt-at", "20").tenon("--resume", "auto"),
            "diverged": Run(folder / "diverged", DEMO, *SHORT, "--set", "vars.lr=1e30", *NO_EXPORT).tenon(),
        }

    def assert_valid(self, line):
        errors = [f"{error.json_path}: {error.message}" for error in VALIDATORS["log-1"].iter_errors(line)]
        self.assertEqual(errors, [], line)

    def test_the_runs_end_as_they_are_meant_to(self):
        codes = {name: run.codes for name, run in self.runs.items()}
        self.assertEqual(codes, {"full": [0], "bare": [0], "two losses": [0], "two validations": [0],
                                 "stopped early": [0], "interrupted": [75], "resumed": [75, 0], "diverged": [5]})
        last = {name: json.loads(run.log.splitlines()[-1]) for name, run in self.runs.items()}
        self.assertEqual(last["full"]["text"], "done")
        self.assertRegex(last["stopped early"]["text"], "acc")
        self.assertEqual((last["diverged"]["event"], last["resumed"]["event"]), ("failure", "run_end"))
        self.assertEqual(last["interrupted"]["event"], "checkpoint")

    def test_every_line_of_the_log_is_as_the_schema_says(self):
        for name, run in self.runs.items():
            with self.subTest(name):
                self.assertTrue(run.log.endswith("\n"))
                for line in run.log.splitlines():
                    self.assert_valid(read(line))

    def test_the_step_never_falls(self):
        for name, run in self.runs.items():
            with self.subTest(name):
                steps = [read(line)["step"] for line in run.log.splitlines()]
                self.assertEqual(steps, sorted(steps))

    def test_each_key_has_one_description(self):
        patterns = SCHEMAS["log-1"]["properties"]["values"]["patternProperties"]
        used = set()
        for name, run in self.runs.items():
            with self.subTest(name):
                for line in run.log.splitlines():
                    for key in read(line).get("values", {}):
                        found = [pattern for pattern in patterns if re.search(pattern, key)]
                        self.assertEqual(len(found), 1, key)
                        used.update(found)
        self.assertEqual(used, set(patterns), "keys that no run writes are documented")

    def test_standard_error_is_json_and_tells_what_the_log_tells(self):
        for name, run in self.runs.items():
            with self.subTest(name):
                told = []
                for line in run.err.splitlines():
                    value = read(line)
                    if "event" in value:
                        self.assert_valid(value)
                        told.append(value)
                    else:
                        self.assertEqual(value["$message_type"], "diagnostic")
                        self.assertIn(value["level"], ("error", "warning", "note"))
                logged = [read(line) for line in run.log.splitlines()]
                for value in logged + told:
                    value.pop("time")
                told = [value for value in told if value.get("text") != "interrupted"]  # cannot be in the log of a stop
                if run.codes[0] == 75 and len(run.codes) > 1:
                    logged = self.without_marks_of_stops(logged)
                    told = self.without_marks_of_stops(told)
                self.assertEqual(told, logged)

    def without_marks_of_stops(self, lines):
        """Where a run goes on, its log is cut back to the checkpoint."""
        return [line for line in lines if line["event"] not in ("run_start", "checkpoint", "message", "timing")]

    def test_an_error_is_a_line_too(self):
        levels = [read(line).get("level") for line in self.runs["diverged"].err.splitlines()]
        self.assertIn("error", levels)
        self.assertEqual(read(self.runs["diverged"].err.splitlines()[-1])["exit_code"], 5)

    def test_eval_leaves_the_log_as_it_is(self):
        run = self.runs["full"]
        before = run.log
        done = subprocess.run([PROGRAM, "eval", run.directory], capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run.log, before)


if __name__ == "__main__":
    unittest.main()
