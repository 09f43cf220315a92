"""`tenon verify resume` holds for pipelines with augmentation, dropout and accumulation, at every cadence."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import runs



def with_momentum_on_plateaus(value):
    """The rate falls some times, and at places the validations without a better value have been counted in part."""
    del value["vars"]["lr"]
    value["nodes"] |= {
        "opt": {"use": "optimizer:sgd", "of": "net", "with": {"lr": 0.05, "momentum": 0.9, "nesterov": True}},
        "sched": {"use": "schedule:plateau", "of": "opt",
                  "with": {"metric": "acc", "factor": 0.5, "patience": 1, "threshold": 0.1}},
        "prec": {"use": "precision:bf16"}}


def of_regression(value):
    nodes = value["nodes"]
    del nodes["shift"], nodes["acc"]
    for part, size in {"train": 1077, "val": 360, "test": 360}.items():
        nodes[f"{part}_set"] = {"use": "dataset:synthetic",
                                "with": {"task": "regression", "split": part, "size": size, "targets": 3}}
        nodes[f"{part}_x"] = {"use": "transform:normalize", "in": f"{part}_set",
                              "with": {"field": "x", "mean": [0.1], "std": [1.5]}}
    pair = {"prediction": "net.logits", "target": "batch.y"}
    nodes |= {
        "net": {"use": "model:mlp", "in": {"image": "batch.x"}, "with": {"classes": 3, "hidden": [48], "dropout": 0.2}},
        "loss": {"use": "loss:mse", "in": pair},
        "error": {"use": "metric:mean_error", "in": pair},
        "sched": {"use": "schedule:step", "of": "opt", "with": {"every": "5 steps", "gamma": 0.7, "warmup": "3 steps"}},
        "prec": {"use": "precision:fp64"}}
    for section in ("validate", "test"):
        value[section]["metrics"] = ["error"]
    value["checkpoint"]["keep"]["best"]["metric"] = "error"
    value["stop"][0]["with"]["metric"] = "error"


def with_what_is_learned_from_data(value):
    """Means, deviations and categories of the training data, which the other streams use through calls."""
    nodes = value["nodes"]
    nodes |= {
        "scaled": {"use": "transform:standardize", "in": "train_x", "with": {"fields": ["image"]}},
        "named": {"use": "transform:encode_categories", "in": "scaled", "with": {"fields": ["label"]}}}
    nodes["train"]["in"] = "named"
    for part in ("val", "test"):
        nodes[f"{part}_scaled"] = {"call": "scaled", "in": f"{part}_x"}
        nodes[f"{part}_named"] = {"call": "named", "in": f"{part}_scaled"}
        nodes[part]["in"] = f"{part}_named"


def drawn_and_mixed(value):
    """Each class drawn equally often, so that samples repeat in an epoch, and the batches mixed behind the loader."""
    nodes = value["nodes"]
    nodes["train"]["with"] |= {"shuffle": False, "sampler": {"balance": "label"}}
    nodes["mixed"] = {"use": "transform:batch_mixup", "in": "train", "with": {"classes": 10}}
    nodes["loss"]["use"] = "loss:soft_cross_entropy"
    value["fit"]["data"] = "mixed"


def on_ranks(number):
    def change(value):
        value["nodes"]["ranks"] = {"use": "distributed:threads", "with": {"ranks": number}}
        value["run"]["distributed"] = "ranks"
    return change


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
    "sgd with momentum, a rate that falls on plateaus, bf16": (
        {"change": with_momentum_on_plateaus, "validate": "3 steps", "checkpoint": "7 steps"}, 36, [7, 23, 36]),
    "regression of synthetic data, a rate that falls in steps, fp64": (
        {"change": of_regression, "validate": "5 steps", "checkpoint": "7 steps"}, 36, [7, 23, 36]),
    "transforms that learn from the training data": (
        {"change": with_what_is_learned_from_data, "validate": "5 steps", "checkpoint": "7 steps"}, 36, [7, 36]),
    "samples drawn by class, in batches that are mixed": (
        {"change": drawn_and_mixed, "validate": "5 steps", "checkpoint": "7 steps"}, 36, [7, 23, 36]),
    "two ranks": ({"change": on_ranks(2), "validate": "5 steps", "checkpoint": "7 steps"}, 36, [7, 23, 36]),
    "three ranks, which do not share the samples evenly": (
        {"change": on_ranks(3), "model": "cnn", "validate": "5 steps"}, 36, [7, 36]),
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
                print(f"figure: verify resume: {name}: {len(places)} places, {result['bytes']} bytes compared", flush=True)

    def test_every_component_that_has_state_is_in_a_case(self):
        used = set()
        for settings, _, _ in CASES.values():
            value = json.loads(runs.pipeline(self.folder, **settings).read_text())
            used |= {part["use"] for part in [*value["nodes"].values(), *value["stop"]] if "use" in part}
        stateful = {name for name in self.own_components() if "stateful" in self.plugins("show", name)["traits"]}
        self.assertLessEqual({"optimizer:adamw", "schedule:plateau", "observer:patience"}, stateful)
        self.assertEqual(stateful - used, set())

    def plugins(self, *arguments):
        done = subprocess.run([runs.PROGRAM, "plugins", *arguments, "--format", "json"], capture_output=True, text=True,
                              timeout=runs.TIME_LIMIT, check=True)
        return json.loads(done.stdout)

    def own_components(self):
        return [f"{component['kind']}:{component['name']}" for component in self.plugins("list")["components"]
                if component["plugin"].startswith("org.tenon.")]

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
