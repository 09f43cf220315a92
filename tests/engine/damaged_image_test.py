"""Training over a folder of images of which some are really damaged: by default it ends and names the file; where that
is allowed it goes on without them or with others in their place, the same on any number of threads and ranks."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest
import zlib

PROGRAM = pathlib.Path(os.environ["TENON_BUILD_DIR"]) / "bin" / "tenon"
TIME_LIMIT = 120  # seconds: far more than any run here takes
DATA = 4  # the exit code

PIPELINE = {
    "format": 1,
    "name": "pictures",
    "run": {"seed": 1, "device": "cpu", "threads": 1},
    "nodes": {
        "files": {"use": "dataset:image_folder", "with": {"path": "pictures"}},
        "sized": {"use": "transform:resize", "in": "files", "with": {"height": 8, "width": 8}},
        "flip": {"use": "transform:random_horizontal_flip", "in": "sized"},
        "x": {"use": "transform:normalize_image", "in": "flip", "with": {"mean": [0.5], "std": [0.25]}},
        "train": {"use": "loader:threads", "in": "x", "with": {"batch": 4, "shuffle": True, "workers": 2}},
        "net": {"use": "model:mlp", "in": {"image": "batch.image"}, "with": {"classes": 2, "hidden": [4]}},
        "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}},
        "opt": {"use": "optimizer:adamw", "of": "net"}},
    "fit": {"data": "train", "loss": "loss", "epochs": 2},
    "observe": []}
RANKS = ["--set", '+nodes.ranks={"use":"distributed:threads","with":{"ranks":2}}', "--set", 'run.distributed="ranks"']


def png(index, side=16):
    """A sound image of a colour that is of its index alone."""
    def chunk(name, content):
        return (struct.pack(">I", len(content)) + name + content
                + struct.pack(">I", zlib.crc32(name + content)))

    rows = b"".join(b"\0" + bytes((x * 7 + y * 3 + index * 11) % 256 for x in range(side) for _ in range(3))
                    for y in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class DamagedImage(unittest.TestCase):
    """22 images of two classes; b/17.png is cut within its pixels, a/5.png holds no image at all."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name).resolve()
        for index in range(22):
            file = cls.folder / "pictures" / ("a" if index < 12 else "b") / f"{index}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(png(index))
        cut = cls.folder / "pictures" / "b" / "17.png"
        cut.write_bytes(cut.read_bytes()[:-60])
        (cls.folder / "pictures" / "a" / "5.png").write_bytes(b"not an image, whatever its name says")
        (cls.folder / "pipe.json").write_text(json.dumps(PIPELINE))

    def tenon(self, *words):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True, timeout=TIME_LIMIT,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def run_with(self, policy, name, *options):
        """Exit code, what standard error says, the messages of the log, and the last checkpoint's weights."""
        bad = [] if policy is None else ["--set", f"+nodes.train.with.bad_sample={json.dumps(policy)}"]
        code, _, err = self.tenon("run", "pipe.json", "--set", f'run.dir="{name}"', "--no-preflight", "--outcome",
                                  "outcome.json", *bad, *options)
        log = self.folder / name / "pictures" / "0001" / "log.jsonl"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        messages = [line["text"] for line in lines if line["event"] == "message"]
        weights = None
        if code == 0:
            outcome = json.loads((self.folder / "outcome.json").read_text())
            self.assertEqual(outcome["steps"], 12)
            weights = (pathlib.Path(outcome["checkpoint"]) / "model.net.safetensors").read_bytes()
        return code, err, messages, weights

    def test_ends_the_run_and_is_named_where_nothing_else_is_said(self):
        code, err, _, _ = self.run_with(None, "fails")
        self.assertEqual(code, DATA, err)
        self.assertRegex(err, r"pictures/(b/17|a/5)\.png")
        self.assertIn("/nodes/files", err)
        self.assertNotIn("terminate called", err)

    def test_is_left_out_or_replaced_and_told_in_each_epoch(self):
        results = {}
        for policy in ("skip", "substitute"):
            with self.subTest(policy):
                code, err, messages, weights = self.run_with({"policy": policy, "max": 2}, policy)
                self.assertEqual(code, 0, err)
                self.assertEqual(len(messages), 2, messages)
                for epoch, text in enumerate(messages, 1):
                    self.assertTrue(text.startswith(f"epoch {epoch}: 2 samples could not be made; "), text)
                    self.assertIn("b/17.png", text)
                    self.assertIn("a/5.png", text)
                    self.assertEqual(text.count(" in its place)"), 2 if policy == "substitute" else 0, text)
                results[policy] = weights
                _, _, _, again = self.run_with({"policy": policy, "max": 2}, f"{policy}-8", "--set",
                                               "nodes.train.with.workers=8")
                self.assertEqual(again, weights, "the bytes depend on the number of threads")
        self.assertNotEqual(results["skip"], results["substitute"])

    def test_behind_a_cache_or_a_split_is_a_bad_sample_like_any_other(self):
        whole = {"part": "train", "fractions": {"train": 1, "val": 0, "test": 0}}
        between = {"lazy": ("cache", {}), "start": ("cache", {"fill": "start"}), "file": ("cache", {"path": "cached"}),
                   "file-again": ("cache", {"path": "cached"}), "split": ("split", whole)}
        for policy in ("skip", "substitute"):
            allowed = {"policy": policy, "max": 2}
            _, _, _, expected = self.run_with(allowed, f"{policy}-without")
            for name, (use, with_) in between.items():
                with self.subTest(policy=policy, between=name):
                    node = json.dumps({"use": f"dataset:{use}", "in": "files", "with": with_})
                    options = ["--set", f"+nodes.between={node}", "--set", 'nodes.sized.in="between"']
                    code, err, messages, weights = self.run_with(allowed, f"{policy}-{name}", *options)
                    self.assertEqual(code, 0, err)
                    self.assertEqual(weights, expected, "the bytes are not those without it")
                    told = [text for text in messages if text.startswith("epoch ")]
                    self.assertEqual(len(told), 2, messages)
                    for text in told:
                        self.assertIn("2 samples could not be made", text)
                        self.assertRegex(text, r"pictures/b/17\.png")
                        self.assertRegex(text, r"pictures/a/5\.png")
                    remarks = [text for text in messages if text not in told]
                    if name == "lazy":
                        self.assertEqual(remarks, [])
                        continue
                    self.assertEqual(len(remarks), 1, remarks)
                    self.assertIn('dataset "between": 2 of 22 items cannot be read, the first is item', remarks[0])
                    code, err, _, _ = self.run_with(None, f"{policy}-{name}-fails", *options)
                    self.assertEqual(code, DATA, err)
                    self.assertRegex(err, r"pictures/(b/17|a/5)\.png")

    def test_one_more_than_allowed_ends_the_run(self):
        for policy in ("skip", "substitute"):
            with self.subTest(policy):
                code, err, _, _ = self.run_with({"policy": policy, "max": 1}, f"{policy}-one")
                self.assertEqual(code, DATA, err)
                self.assertRegex(err, r"pictures/(b/17|a/5)\.png")
                self.assertIn("bad_sample allows no more", err)

    def test_on_two_ranks_is_told_of_both(self):
        code, err, messages, _ = self.run_with({"policy": "skip", "max": 2}, "ranks", *RANKS)
        self.assertEqual(code, 0, err)
        self.assertEqual(len(messages), 2, messages)
        for text in messages:
            self.assertIn("2 samples could not be made", text)

    def test_a_run_that_was_stopped_ends_with_the_bytes_of_one_that_was_not(self):
        bad = json.dumps({"policy": "substitute", "max": 2})
        code, out, err = self.tenon("verify", "resume", "pipe.json", "--at", "5", "--format", "json", "--set",
                                    f"+nodes.train.with.bad_sample={bad}")
        self.assertEqual(code, 0, err)
        self.assertTrue(json.loads(out)["equal"])


if __name__ == "__main__":
    unittest.main()
