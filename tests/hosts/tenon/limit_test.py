"""--limit and --overfit: short for --set, with errors for what they do not mean; and the trial before a run."""

import json
import os
import re
import shlex
import unittest

from program import BUILD, PROGRAM, ProgramTest

SMALL = ["--set", 'nodes.sched.with.warmup="2 steps"', "--set", "nodes.net.with.width=4", "--set", "export=[]"]
QUICK = [*SMALL, "--no-preflight"]
FAULTY = ["--plugin-path", str(BUILD / "tests" / "plugins" / "tenon_faulty.so")]


class LimitTest(ProgramTest):
    def resolved(self):
        [path] = self.folder.glob("runs/digits/0001/config.resolved.json")
        return json.loads(path.read_text())

    def steps(self):
        log = (self.folder / "runs" / "digits" / "0001" / "log.jsonl").read_text().splitlines()
        return max(json.loads(line)["step"] for line in log)

    def test_each_word_cuts_its_passes(self):
        code, _, err = self.tenon("run", "digits.json", *QUICK, "--set", "vars.epochs=2", "--limit", "train=5,val=2,test=1")
        self.assertEqual(code, 0, err)
        resolved = self.resolved()
        self.assertEqual([resolved[section]["limit"] for section in ("fit", "validate", "test")], [5, 2, 1])
        self.assertEqual(self.steps(), 10)

    def test_overfit_stands_in_the_pipeline_of_the_run(self):
        code, _, err = self.tenon("run", "digits.json", *QUICK, "--set", "vars.epochs=3", "--overfit", "2")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.resolved()["fit"]["overfit"], 2)
        self.assertEqual(self.steps(), 6)

    def test_a_warm_up_of_the_demo_is_shortened_by_a_limit_and_that_is_told_once(self):
        small = ["--set", "nodes.net.with.width=4", "--set", "export=[]", "--set", "vars.epochs=2"]
        for cut in (["--limit", "train=2,val=1"], ["--overfit", "1"]):
            with self.subTest(cut=cut):
                code, _, err = self.tenon("run", "digits.json", *small, *cut)
                self.assertEqual(code, 0, err)
                self.assertEqual(err.count('schedule "sched" does not fit into'), 1, err)
                newest = max(self.folder.glob("runs/digits/*/log.jsonl"))
                self.assertEqual(newest.read_text().count("spans are shortened in proportion"), 1)

        def change(pipeline):
            pipeline["fit"]["limit"] = 2

        code, _, err = self.tenon("run", self.demo(change), *small)
        self.assertEqual(code, 2, err)
        self.assertIn("does not fit into a schedule until the end of the run (4 steps)", err)

    def test_what_is_printed_to_follow_a_cut_run_works(self):
        code, out, err = self.tenon("run", "digits.json", *QUICK, "--set", "vars.epochs=2", "--limit", "train=1,val=1",
                                    "--overfit", "1")
        self.assertEqual(code, 0, err)
        lines = [shlex.split(line) for line in out.partition("What next")[2].splitlines()]
        commands = {words[1]: words[1:] for words in lines if len(words) > 2 and words[0] == str(PROGRAM)}
        code, out, err = self.tenon(*commands["explain"])
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"fit\.limit +1")
        self.assertRegex(out, r"fit\.overfit +1")
        code, _, err = self.tenon(*commands["run"])
        self.assertEqual(code, 0, err)
        self.assertIn("--no-preflight", commands["run"])
        again = json.loads((self.folder / "runs/digits/0002/config.resolved.json").read_text())
        self.assertEqual((again["fit"]["limit"], again["fit"]["overfit"]), (1, 1))

    def test_a_cut_run_that_was_interrupted_goes_on_as_it_is_told(self):
        code, _, err = self.tenon("run", "digits.json", *QUICK, "--set", "vars.epochs=3", "--limit", "train=2",
                                  "--interrupt-at", "3")
        self.assertEqual(code, 75, err)
        words = shlex.split(err.partition("To go on: ")[2].splitlines()[0])
        code, _, err = self.tenon(*words[1:])
        self.assertEqual(code, 0, err)
        self.assertEqual(self.steps(), 6)

    def test_val_means_every_validation_and_a_name_one(self):
        def change(pipeline):
            pipeline["validate"] = {"one": {"data": "val", "metrics": ["acc"]}, "two": {"data": "val", "metrics": ["acc"]}}
            pipeline["checkpoint"]["keep"]["best"]["metric"] = "validate.one.acc"
            pipeline["stop"] = []

        name = self.demo(change)
        for words, wanted in (("train=2,val=1", {"one": 1, "two": 1}), ("train=2,validate.two=1", {"two": 1})):
            with self.subTest(words=words):
                code, _, err = self.tenon("run", name, *QUICK, "--set", "vars.epochs=2", "--limit", words)
                self.assertEqual(code, 0, err)
                newest = max(self.folder.glob("runs/digits/*/config.resolved.json"))
                validations = json.loads(newest.read_text())["validate"]
                self.assertEqual({key: value["limit"] for key, value in validations.items() if "limit" in value}, wanted)

    def test_what_is_no_limit_is_refused(self):
        for words, part in (
            (["--limit", "train"], '"train"'),
            (["--limit", "train=0"], '"train=0"'),
            (["--limit", "train=-1"], '"train=-1"'),
            (["--limit", "train=5 batches"], '"train=5 batches"'),
            (["--limit", "train=5,tset=1"], '"tset=1"'),
            (["--limit", "train=5,,test=1"], 'not ""'),
            (["--limit", "=5"], '"=5"'),
            (["--limit", "train=99999999999999999999"], '"train=99999999999999999999"'),
            (["--overfit", "0"], '"0"'),
            (["--overfit", "all"], '"all"'),
            (["--limit", "validate.night=3"], "night"),
        ):
            with self.subTest(words=words):
                code, out, err = self.tenon("run", "digits.json", *QUICK, *words)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(part, err)
                self.assertFalse((self.folder / "runs").exists())

    def test_a_fault_of_a_late_stage_ends_the_trial_and_leaves_no_run(self):
        def change(pipeline):
            pipeline["nodes"]["script"] = {"use": "exporter:faulty", "of": "net", "with": {"fault": "renames"}}

        name = self.demo(change)
        words = [name, *SMALL[:4], "--set", "vars.epochs=2", "--limit", "train=3", *FAULTY]
        code, out, err = self.tenon("run", *words)
        self.assertEqual((code, out), (8, ""), err)
        self.assertIn("every stage is tried once before training (--no-preflight leaves that out)", err)
        self.assertEqual(sorted(os.listdir(self.folder)), ["changed.json", "digits.json"])

        code, out, err = self.tenon("run", *words, "--no-preflight")
        self.assertEqual(code, 8, err)
        self.assertNotIn("every stage is tried once", err)
        self.assertEqual(self.steps(), 6)


if __name__ == "__main__":
    unittest.main()
