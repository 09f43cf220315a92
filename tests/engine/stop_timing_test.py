"""A run that waits for a sample which does not come back ends soon after Ctrl-C, with what it had learned."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
TIME_LIMIT = 120  # seconds: far more than anything here takes
BOUND = 2  # seconds: half a second is given to threads that are on a sample, and machines that run tests are slow

# From one sample on each takes a minute: in batches of 20, ten are made.
PIPELINE = {
    "format": 1,
    "name": "stalls",
    "run": {"seed": 1, "device": "cpu", "threads": 1},
    "nodes": {
        "images": {"use": "dataset:stalling", "with": {"after": 200, "milliseconds": 60000}},
        "x": {"use": "transform:to_float", "in": "images", "with": {"max": 16}},
        "train": {"use": "loader:threads", "in": "x", "with": {"batch": 20, "workers": 3}},
        "net": {"use": "model:mlp", "in": {"image": "batch.image"}, "with": {"classes": 10, "hidden": [4]}},
        "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}},
        "opt": {"use": "optimizer:adamw", "of": "net"}},
    "fit": {"data": "train", "loss": "loss", "epochs": 2},
    "observe": []}


class StopTiming(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve()
        (self.folder / "pipe.json").write_text(json.dumps(PIPELINE))
        self.log = self.folder / "runs" / "stalls" / "0001" / "log.jsonl"

    def stopped(self, number, *options):
        """Exit code of a run that hangs behind its last good sample, and how long it took to end from the signal on."""
        process = subprocess.Popen(
            [BUILD / "bin" / "tenon", "run", "pipe.json", "--no-preflight", "--plugin-path",
             BUILD / "tests" / "plugins", *options],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + TIME_LIMIT
        while not (self.log.exists() and '"step"' in self.log.read_text()):
            self.assertIsNone(process.poll(), process.communicate()[1] if process.poll() is not None else "")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        time.sleep(0.5)  # into the sample that hangs
        begin = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=TIME_LIMIT)
        return process.returncode, err, time.monotonic() - begin

    def test_ends_soon_and_saves_what_is_there(self):
        for number, expected, options in (
                (signal.SIGINT, 130, []),
                (signal.SIGTERM, 75, ["--set", "nodes.train.with.workers=8"]),
                (signal.SIGINT, 130, ["--set", 'nodes.train.with.workers="auto"'])):
            with self.subTest(signal=number.name, options=options):
                code, err, seconds = self.stopped(number, *options)
                print(f"figure: ended {seconds * 1000:.0f} ms after {number.name} {' '.join(options)}", flush=True)
                self.assertEqual(code, expected, err)
                self.assertLess(seconds, BOUND)
                self.assertTrue((self.log.parent / "checkpoints" / "step-000010").is_dir())
                subprocess.run(["rm", "-rf", self.folder / "runs"], check=True)


if __name__ == "__main__":
    unittest.main()
