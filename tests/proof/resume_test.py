"""`tenon verify resume` holds for pipelines with augmentation, dropout and accumulation, at every cadence."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import runs

CASES = {
    # name: (settings of the pipeline, its steps, places)
    "validation and checkpoints at the ends of epochs": ({}, 36, [1, 7, 23, 36]),
    "validation pending at some checkpoints, checkpoints between log lines": (
        {"validate": "5 steps", "checkpoint": "7 steps"}, 36, [1, 7, 23, 36]),
    "validation without a checkpoint, and more often than one": (
        {"validate": "3 steps", "checkpoint": "2 epochs"}, 36, [3, 7, 24, 36]),
    "cadences by samples, and a network with batch norm": (
        {"model": "cnn", "validate": "500 samples", "checkpoint": "300 samples"}, 36, [1, 7, 23, 36]),
    "patience that ends training early, counted across the stop": (
        {"lr": 1e-12, "patience": 3, "validate": "5 steps", "checkpoint": "4 steps"}, 20, [1, 7, 15, 20]),
}


class ResumeTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def verify(self, file, *options):
        done = subprocess.run([runs.PROGRAM, "verify", "resume", file, "--format", "json", *options],
                              capture_output=True, text=True, timeout=240, check=False)
        return done.returncode, (json.loads(done.stdout) if done.stdout else None), done.stderr

    def test_a_run_that_was_stopped_ends_with_the_bytes_of_one_that_was_not(self):
        for name, (settings, steps, places) in CASES.items():
            with self.subTest(case=name):
                file = runs.pipeline(self.folder, **settings)
                at = ",".join(map(str, places[:-1])) + ",end"
                code, result, err = self.verify(file, "--at", at)
                self.assertEqual(code, 0, err)
                self.assertTrue(result["equal"])
                self.assertEqual(result["steps"], steps)
                self.assertEqual([place["step"] for place in result["places"]], places)
                for place in result["places"]:
                    self.assertEqual((place["steps_again"], place["samples_again"]), (0, 0))
                    self.assertGreaterEqual(place["files"], 5)
                    self.assertGreater(place["bytes"], 10_000)
                print(f"{name}: {len(places)} places, {result['bytes']} bytes compared", flush=True)

    def test_loader_settings_change_no_byte(self):
        file = runs.pipeline(self.folder, validate="5 steps", checkpoint="7 steps", epochs=2)
        done = subprocess.run([runs.PROGRAM, "verify", "repro", file, "--times", "3", "--format", "json"],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual([(run["workers"], run["prefetch"]) for run in result["runs"]], [(0, 1), (2, 4)])
        for run in result["runs"]:
            self.assertTrue(run["equal"])
            self.assertGreaterEqual(run["checkpoints"], 2)
            self.assertGreater(run["bytes"], 10_000)

    def test_a_run_that_is_stopped_again_and_again_ends_with_the_same_bytes(self):
        file = runs.pipeline(self.folder, validate="5 steps", checkpoint="7 steps")
        straight, _ = runs.run(file, self.folder / "straight")
        stops = [2, 5, 7, 8, 20, 36]
        made = 0
        for before, stop in zip([0, *stops], stops):
            stopped, _ = runs.run(file, self.folder / "chain", "--resume", "auto", "--interrupt-at", str(stop),
                                  expect=runs.PREEMPTED)
            self.assertEqual((stopped["first_step"], stopped["steps"]), (before, stop))
            self.assertEqual(stopped["steps_executed"], stop - before)
            self.assertTrue(stopped["interrupted"])
            made += stopped["steps_executed"]
        ended, _ = runs.run(file, self.folder / "chain", "--resume", "auto")
        self.assertEqual((made, ended["steps_executed"], straight["steps"]), (36, 0, 36))
        self.assertEqual(ended["directory"], stopped["directory"])
        self.assertEqual(runs.different_files(straight["checkpoint"], ended["checkpoint"])[0], [])
        self.assertEqual(runs.comparable_log(straight["directory"], stops),
                         runs.comparable_log(ended["directory"], stops))
        self.assertEqual((straight["validation"], straight["test"]), (ended["validation"], ended["test"]))

    def test_a_finished_run_is_not_resumed(self):
        file = runs.pipeline(self.folder, epochs=1)
        first, _ = runs.run(file, self.folder / "runs")
        _, err = runs.run(file, self.folder / "runs", "--resume", "must", expect=9)
        self.assertIn(first["directory"], err)
        second, _ = runs.run(file, self.folder / "runs", "--resume", "auto")
        self.assertNotEqual(first["directory"], second["directory"])
        self.assertEqual(second["first_step"], 0)


if __name__ == "__main__":
    unittest.main()
