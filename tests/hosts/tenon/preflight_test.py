"""The trial before a run, and learning from data: a signal there ends the program at once and leaves nothing."""

import json
import os
import signal
import subprocess
import time
import unittest

from program import BUILD, PROGRAM, TIME_LIMIT, ProgramTest

FAULTY = ["--plugin-path", str(BUILD / "tests" / "plugins" / "tenon_faulty.so")]
SLOW = {"use": "dataset:stalling", "with": {"after": 0}}


class PreflightTest(ProgramTest):
    def signalled(self, number, *arguments):
        """Sends the signal once the trial has a folder; returns exit code and messages."""
        process = subprocess.Popen([PROGRAM, "run", *arguments, *FAULTY], cwd=self.folder, env=self.environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + TIME_LIMIT
        while not list(self.folder.glob("runs/.preflight-*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(number)
        _, err = process.communicate(timeout=TIME_LIMIT)
        return process.returncode, err.decode()

    def expect_nothing_left(self, name):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["digits.json", name]))

    def test_a_signal_in_the_trial_ends_with_its_code(self):
        def change(pipeline):
            pipeline["nodes"]["train_set"] = SLOW

        name = self.demo(change)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 75)):
            with self.subTest(signal=number):
                ended, err = self.signalled(number, name)
                self.assertEqual(ended, code, err)
                self.expect_nothing_left(name)

    def test_a_signal_while_a_transform_learns_ends_with_its_code(self):
        def change(pipeline):
            nodes = pipeline["nodes"]
            nodes["train_set"] = SLOW
            nodes["train_x"] = {"use": "transform:standardize", "in": "shift", "with": {"fields": ["image"]}}
            for name, source in (("val_x", "val_set"), ("test_x", "test_set")):
                nodes[name] = {"call": "train_x", "in": source}

        name = self.demo(change)
        ended, err = self.signalled(signal.SIGINT, name)
        self.assertEqual(ended, 130, err)
        self.expect_nothing_left(name)

    def test_a_folder_that_cannot_be_written_ends_with_10(self):
        self.write("runs", "no folder")
        code, out, err = self.tenon("run", "digits.json")
        self.assertEqual((code, out), (10, ""), err)
        self.assertIn("runs", err)

    def test_what_goes_wrong_in_front_of_a_transform_that_learns_is_told_where_it_did(self):
        self.write("rows.csv", "size,kind\n" + "".join(f"{i},{i % 3}\n" for i in range(9)))
        fields = [{"name": "size", "columns": ["size"]}, {"name": "kind", "type": "integer"}]
        self.write("rows.json", json.dumps({
            "format": 1, "name": "rows",
            "nodes": {
                "rows": {"use": "dataset:csv", "with": {"path": "rows.csv", "fields": fields}},
                "hot": {"use": "transform:one_hot", "in": "rows", "with": {"fields": ["kind"], "classes": 2}},
                "scaled": {"use": "transform:standardize", "in": "hot", "with": {"fields": ["size"]}},
                "train": {"use": "loader:threads", "in": "scaled", "with": {"batch": 4, "last": "drop"}},
                "net": {"use": "model:mlp", "in": {"size": "batch.size"}, "with": {"input": "size", "classes": 2}},
                "loss": {"use": "loss:bce", "in": {"logits": "net.logits", "target": "batch.kind"}},
                "opt": {"use": "optimizer:adamw", "of": "net"},
            },
            "fit": {"data": "train", "loss": "loss", "epochs": 1}}))
        code, _, err = self.tenon("run", "rows.json")
        self.assertEqual(code, 4, err)
        self.assertTrue(err.startswith('error[data]: "hot" (transform:one_hot), sample 2 of "rows", epoch 0: '), err)
        self.assertIn("  /nodes/hot/use\n", err)

        code, _, err = self.tenon("run", "rows.json", "--set", "nodes.hot.with.classes=3", "--set",
                                  "nodes.net.with.classes=3", "--set", "nodes.train.with.batch=10")
        self.assertEqual(code, 4, err)
        self.assertTrue(err.startswith('error[data]: dataset "rows" has 9 samples, less than one batch of 10'), err)
        self.assertIn("  /nodes/train/use\n", err)

    def test_what_others_keep_among_the_runs_stays(self):
        (self.folder / "runs" / "mine").mkdir(parents=True)
        self.write("runs/mine/notes.txt", "keep me")
        self.write("faulty.json", json.dumps(
            {"nodes": {"script": {"use": "exporter:faulty", "of": "net", "with": {"fault": "renames"}}}}))
        code, out, err = self.tenon("run", "digits.json", "--overlay", "faulty.json", *FAULTY)
        self.assertEqual((code, out), (8, ""), err)
        self.assertEqual(os.listdir(self.folder / "runs"), ["mine"])


if __name__ == "__main__":
    unittest.main()
