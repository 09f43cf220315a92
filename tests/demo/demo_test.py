"""The demo keeps its promises: accuracy for five seeds, equal bytes, files that Python reads."""

import filecmp
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
PYTHON_TORCH = os.environ.get("TENON_PYTHON_TORCH", "")
PROGRAM = BUILD / "bin" / "tenon"
DEMO = SOURCE / "sdk" / "examples" / "pipelines" / "digits.json"

# Reads an export and a checkpoint with Python's own torch and safetensors, and prints what it found as JSON.
READER = """
import json, sys
import safetensors.torch, torch
script, weights, inputs, copy = sys.argv[1:]
model = torch.jit.load(script)
saved = safetensors.torch.load_file(weights)
traced = dict(model.named_parameters()) | dict(model.named_buffers())
x = safetensors.torch.load_file(inputs)["image"]
with torch.no_grad():
    outputs = {str(n): model(x[:n]).tolist() for n in (1, 2, 5)}
safetensors.torch.save_file(saved, copy)
print(json.dumps({
    "names": sorted(saved),
    "missing": sorted(set(traced) - set(saved)),
    "equal": all(torch.equal(value, saved[name]) for name, value in traced.items()),
    "training": model.training,
    "outputs": outputs,
}))
"""


ONE_EPOCH = ("fit.epochs=1", 'nodes.sched.with.warmup="5 steps"')


class Demo(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_demo(self, *sets):
        arguments = [PROGRAM, "run", DEMO, "--set", f'run.dir="{self.folder}"']
        for each in sets:
            arguments += ["--set", each]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = sorted((self.folder / "digits").iterdir())
        return runs[-1], done.stdout

    def checkpoints(self, run):
        return sorted(path for path in (run / "checkpoints").iterdir() if path.is_dir())

    def assert_same_checkpoints(self, first, second, what):
        names = [path.name for path in self.checkpoints(first)]
        self.assertEqual(names, [path.name for path in self.checkpoints(second)], what)
        for name in names:
            one, other = first / "checkpoints" / name, second / "checkpoints" / name
            files = sorted(path.name for path in one.iterdir())
            self.assertEqual(files, sorted(path.name for path in other.iterdir()), what)
            _, different, errors = filecmp.cmpfiles(one, other, files, shallow=False)
            self.assertEqual((different, errors), ([], []), what)

    def test_accuracy_is_98_percent_for_each_of_five_seeds_best_chosen_on_validation(self):
        for seed in range(1, 6):
            run, out = self.run_demo(f"run.seed={seed}")
            lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
            [test] = [line for line in lines if line["event"] == "test"]
            accuracy = test["values"]["test.acc"]
            index = json.loads((run / "checkpoints" / "index.json").read_text())
            best = max(record["metrics"].get("validate.acc", 0) for record in index["history"])
            [chosen] = [record for record in index["history"] if record["step"] == index["best"]]
            self.assertEqual(chosen["metrics"]["validate.acc"], best)
            self.assertTrue(test["text"].endswith(f"step-{index['best']:06d}"), test["text"])
            seconds = float(re.search(r"steps in ([0-9.]+) s", out).group(1))
            print(f"seed {seed}: test accuracy {accuracy:.4f}, training {seconds} s", flush=True)
            self.assertGreaterEqual(accuracy, 0.98)

    def test_two_runs_and_any_number_of_loader_threads_give_equal_bytes(self):
        short = ("fit.epochs=3", "export=[]")
        first, _ = self.run_demo(*short)
        again, _ = self.run_demo(*short)
        self.assertGreaterEqual(len(self.checkpoints(first)), 2)
        self.assert_same_checkpoints(first, again, "the same pipeline twice")
        for workers in (0, 1, 2, 5):
            other, _ = self.run_demo(*short, f"nodes.train.with.workers={workers}")
            self.assert_same_checkpoints(first, other, f"{workers} loader threads")

    def test_the_end_is_a_table_with_all_that_one_needs(self):
        run, out = self.run_demo(*ONE_EPOCH)
        for expected in ("test accuracy", str(run), "checkpoint", "verified", "next"):
            self.assertIn(expected.lower(), out.lower())
        self.assertTrue((run / "exports" / "script.pt").exists())

    @unittest.skipUnless(PYTHON_TORCH, "there is no Python with torch")
    def test_python_loads_the_torchscript_file_and_the_weights(self):
        run, _ = self.run_demo(*ONE_EPOCH)
        weights = self.checkpoints(run)[-1] / "model.net.safetensors"
        images = self.folder / "images.safetensors"
        subprocess.run(
            [PYTHON_TORCH, "-c", "import sys, torch, safetensors.torch as s\n"
             "s.save_file({'image': torch.arange(5 * 64).reshape(5, 1, 8, 8).remainder(17) / 16.0}, sys.argv[1])", images],
            check=True, timeout=240)
        copy = self.folder / "copy.safetensors"
        read = subprocess.run(
            [PYTHON_TORCH, "-c", READER, run / "exports" / "script.pt", weights, images, copy],
            capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(read.returncode, 0, read.stderr)
        found = json.loads(read.stdout)
        self.assertIn("head.weight", found["names"])
        self.assertEqual(found["missing"], [])
        self.assertTrue(found["equal"], "the traced weights are not those of the checkpoint")
        self.assertFalse(found["training"])

        outputs = self.folder / "outputs.safetensors"
        subprocess.run(
            [PROGRAM, "artefact-run", "--component", "exporter:torchscript", "--with", "{}", "--file",
             run / "exports" / "script.pt", "--inputs", images, "--outputs", outputs], check=True, timeout=240)
        ours = subprocess.run(
            [PYTHON_TORCH, "-c", "import json, sys, safetensors.torch as s\n"
             "print(json.dumps(s.load_file(sys.argv[1])['logits'].tolist()))", outputs],
            capture_output=True, text=True, timeout=240, check=True)
        logits = json.loads(ours.stdout)
        for count, rows in found["outputs"].items():
            for row, expected in zip(rows, logits[: int(count)]):
                for value, wanted in zip(row, expected):
                    self.assertAlmostEqual(value, wanted, places=4)

        # Written by Python, read by us: the copy in the checkpoint's place is what `tenon` tests and exports from.
        self.assertEqual(copy.read_bytes()[:8], weights.read_bytes()[:8])
        self.assertTrue(filecmp.cmp(copy, weights, shallow=False), "Python writes other bytes for the same weights")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
