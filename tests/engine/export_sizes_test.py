"""An exported file, traced at one batch size and verified at three, is right at sizes that nobody tried.

The reference is the network's formula over the checkpoint's weights, written here with Python's own torch."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
PYTHON_TORCH = os.environ.get("TENON_PYTHON_TORCH", "")
PROGRAM = BUILD / "bin" / "tenon"
DEMO = SOURCE / "sdk" / "examples" / "pipelines" / "digits.json"

COMPARE = """
import json, sys
import safetensors.torch, torch
import torch.nn.functional as F
kind, script, weights = sys.argv[1:]
model = torch.jit.load(script)
w = safetensors.torch.load_file(weights)

def linear(x, name):
    return F.linear(x, w[name + ".weight"], w[name + ".bias"])

def block(x, name, pools):
    x = F.conv2d(x, w[name + ".conv.weight"], padding=1)
    n = name + ".norm."
    x = F.relu(F.batch_norm(x, w[n + "running_mean"], w[n + "running_var"], w[n + "weight"], w[n + "bias"]))
    return F.max_pool2d(x, 2) if pools else x

def cnn(x):
    for name, pools in (("block1", False), ("block2", True), ("block3", True)):
        x = block(x, name, pools)
    return linear(x.mean((2, 3)), "head")

def mlp(x):
    x = x.flatten(1)
    for name in ("hidden1", "hidden2"):
        x = F.relu(linear(x, name + ".linear"))
    return linear(x, "head")

reference = {"cnn": cnn, "mlp": mlp}[kind]
generator = torch.Generator().manual_seed(5)
found = {}
with torch.no_grad():
    for batch in (2, 5, 64):
        x = torch.rand(batch, 1, 8, 8, generator=generator)
        got, wanted = model(x), reference(x)
        found[batch] = {"shape": list(got.shape), "scale": wanted.abs().max().item(),
                        "error": (got - wanted).abs().max().item() if got.shape == wanted.shape else None}
print(json.dumps(found))
"""


@unittest.skipUnless(PYTHON_TORCH, "there is no Python with torch")
class Sizes(unittest.TestCase):
    def export(self, folder, *sets):
        arguments = [PROGRAM, "run", DEMO]
        for each in (f'run.dir="{folder}"', "fit.epochs=1", 'nodes.sched.with.warmup="5 steps"',
                     "nodes.script.with.verify.batch=[1,7,33]", *sets):
            arguments += ["--set", each]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        [run] = (folder / "digits").iterdir()
        report = json.loads((run / "exports" / "script.pt.report.json").read_text())
        self.assertEqual([row["batch"] for row in report["comparisons"]], [1, 7, 33])
        return run / "exports" / "script.pt", run / "checkpoints" / report["facts"]["checkpoint"]

    def check(self, kind, *sets):
        with tempfile.TemporaryDirectory() as scratch:
            script, checkpoint = self.export(pathlib.Path(scratch), *sets)
            read = subprocess.run(
                [PYTHON_TORCH, "-c", COMPARE, kind, script, checkpoint / "model.net.safetensors"],
                capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(read.returncode, 0, read.stderr)
        found = json.loads(read.stdout)
        print(kind, found, flush=True)
        self.assertEqual(set(found), {"2", "5", "64"})
        for batch, row in found.items():
            self.assertEqual(row["shape"], [int(batch), 10])
            self.assertGreater(row["scale"], 0.1)
            self.assertLess(row["error"], 1e-5 * row["scale"])

    def test_cnn_with_convolution_batch_norm_and_pooling(self):
        self.check("cnn", "nodes.net.with.width=12")

    def test_mlp_with_flattened_input(self):
        net = {"use": "model:mlp", "in": {"image": "batch.image"},
               "with": {"classes": 10, "hidden": [32, 16], "dropout": 0.2}}
        self.check("mlp", f"nodes.net={json.dumps(net)}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
