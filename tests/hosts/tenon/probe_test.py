"""`tenon probe`: the numbers of each module as numpy finds them, and no trace of having looked."""

import hashlib
import json
import pathlib
import struct
import unittest

import numpy
from program import ProgramTest

NODES = {
    "data": {"use": "dataset:npy", "with": {"fields": [
        {"name": "x", "path": "x.npy", "dtype": "float32", "shape": [3]},
        {"name": "y", "path": "y.npy", "dtype": "float32", "shape": [2]}]}},
    "train": {"use": "loader:threads", "in": "data", "with": {"batch": 8, "workers": 0}},
    "net": {"use": "model:mlp", "in": {"x": "batch.x"}, "with": {"input": "x", "output": "value", "size": 2, "hidden": [5]}},
    "loss": {"use": "loss:mse", "in": {"prediction": "net.value", "target": "batch.y"}},
    "opt": {"use": "optimizer:sgd", "of": "net"},
}


def read_safetensors(path):
    blob = path.read_bytes()
    (length,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8:8 + length])
    return {name: numpy.frombuffer(blob[8 + length:], numpy.uint8)[slice(*entry["data_offsets"])]
            .view(numpy.float32).reshape(entry["shape"]).astype(float)
            for name, entry in header.items() if name != "__metadata__"}


def hashes(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in pathlib.Path(folder).rglob("*") if path.is_file()}


class ProbeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(0)
        self.x, self.y = random.normal(size=(20, 3)), random.normal(size=(20, 2))
        numpy.save(self.folder / "x.npy", self.x.astype(numpy.float32))
        numpy.save(self.folder / "y.npy", self.y.astype(numpy.float32))
        self.write("pipe.json", json.dumps({
            "format": 1, "name": "probed", "run": {"seed": 1, "device": "cpu", "threads": 1}, "nodes": NODES,
            "fit": {"data": "train", "loss": "loss", "epochs": 2}, "observe": []}))

    def rows(self, *arguments):
        code, out, err = self.tenon("probe", "pipe.json", "--format", "json", *arguments)
        self.assertEqual(code, 0, err)
        return {row["module"]: row for row in map(json.loads, out.splitlines())}

    def test_the_numbers_are_those_of_numpy_for_the_weights_of_a_run(self):
        code, _, err = self.tenon("run", "pipe.json")
        self.assertEqual(code, 0, err)
        before = hashes(self.folder)
        rows = self.rows("--weights", "runs/probed/0001")
        self.assertEqual(hashes(self.folder), before)

        [checkpoint] = {path.parent for path in self.folder.glob("runs/probed/0001/checkpoints/step-000006/*")}
        weights = read_safetensors(checkpoint / "model.net.safetensors")
        x, y = self.x[:8], self.y[:8]
        linear = x @ weights["hidden1.linear.weight"].T + weights["hidden1.linear.bias"]
        hidden = numpy.maximum(linear, 0)
        value = hidden @ weights["head.weight"].T + weights["head.bias"]
        at_value = 2 * (value - y) / value.size
        at_hidden = at_value @ weights["head.weight"]
        for module, array, gradient in (("net.head", value, at_value), ("net.hidden1", hidden, at_hidden),
                                        ("net.hidden1.linear", linear, at_hidden * (linear > 0))):
            row = rows[module]
            self.assertEqual((row["shape"], row["dtype"], row["not_finite"]), (list(array.shape), "float32", 0))
            for key, expected in (("mean", array.mean()), ("deviation", array.std()), ("min", array.min()),
                                  ("max", array.max()), ("gradient_norm", numpy.linalg.norm(gradient))):
                self.assertAlmostEqual(row[key], expected, places=5, msg=f"{module} {key}")
            self.assertEqual(row["zeros"], (array == 0).mean())
        other = ["--set", 'nodes.opt={"use":"optimizer:adamw","of":"net"}', "--set", "nodes.train.with.batch=4"]
        row = self.rows("--weights", "runs/probed/0001", *other)["net.head"]
        self.assertAlmostEqual(row["mean"], value[:4].mean(), places=5)

    def test_only_what_at_names_is_shown_and_other_weights_give_other_numbers(self):
        everything = self.rows()
        self.assertEqual(set(self.rows("--at", "net.head", "--at", "*linear")), {"net.head", "net.hidden1.linear"})
        self.assertEqual(self.rows("--at", "net.head")["net.head"], everything["net.head"])
        self.assertNotEqual(self.rows("--set", "run.seed=2")["net.head"]["mean"], everything["net.head"]["mean"])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["digits.json", "pipe.json", "x.npy", "y.npy"])

    def test_phases_and_calls_are_named(self):
        nodes = dict(NODES, glass={"use": "model:mlp", "in": {"x": "batch.x"},
                                   "with": {"input": "x", "output": "x", "size": 3, "hidden": []}},
                     again={"call": "net", "in": {"x": "glass.x"}},
                     far={"use": "loss:mse", "in": {"prediction": "again.value", "target": "batch.y"}},
                     lens={"use": "optimizer:sgd", "of": "glass"})
        phases = [{"name": "near", "loss": "loss", "optimizers": ["opt"]},
                  {"name": "far", "loss": "far", "optimizers": ["lens"]}]
        self.write("phases.json", json.dumps({
            "format": 1, "name": "probed", "run": {"seed": 1, "device": "cpu", "threads": 1}, "nodes": nodes,
            "fit": {"data": "train", "phases": phases, "epochs": 2, "accumulate": 2}, "observe": []}))
        code, out, err = self.tenon("probe", "phases.json", "--format", "json", "--at", "*.head")
        self.assertEqual(code, 0, err)
        rows = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([(row["phase"], row["node"], row["module"]) for row in rows],
                         [("near", "net", "net.head"), ("far", "glass", "glass.head"), ("far", "again", "net.head")])
        self.assertNotEqual(rows[0]["mean"], rows[2]["mean"])
        code, only, err = self.tenon("probe", "phases.json", "--format", "json", "--at", "again.head")
        self.assertEqual((code, [json.loads(line) for line in only.splitlines()]), (0, rows[2:]), err)
        code, out, err = self.tenon("probe", "phases.json", "--at", "*.head")
        self.assertEqual(code, 0, err)
        lines = out.splitlines()
        self.assertEqual([line for line in lines if "  " not in line],
                         ["net in phase near", "glass in phase far", "net in phase far, as again"])
        self.assertTrue(lines[lines.index("net in phase far, as again") + 1].startswith("net.head "), out)

    def test_numbers_that_are_not_finite_are_told(self):
        numpy.save(self.folder / "x.npy", numpy.full((20, 3), numpy.nan, numpy.float32))
        code, out, err = self.tenon("probe", "pipe.json")
        self.assertEqual(code, 0, err)
        self.assertIn("net.head gives 16 numbers that are not finite", out)

    def test_missing_data_ends_with_4(self):
        (self.folder / "x.npy").unlink()
        code, out, err = self.tenon("probe", "pipe.json")
        self.assertEqual((code, out), (4, ""), err)
        self.assertIn("x.npy", err)

    def test_errors_end_with_their_code(self):
        for words, wanted, part in (
            (["--at", "nte.*"], 2, "no module matches --at"),
            (["--weights", "nowhere"], 9, "nowhere"),
            (["--set", "nodes.net.with.size=3"], 2, "must have one shape"),
        ):
            with self.subTest(words=words):
                code, out, err = self.tenon("probe", "pipe.json", *words)
                self.assertEqual((code, out), (wanted, ""), err)
                self.assertIn(part, err)

    def table(self, fields, target, *lines):
        self.write("table.csv", "\n".join(["a,b,town", *lines, ""]))
        nodes = NODES | {
            "data": {"use": "dataset:csv", "with": {"path": "table.csv", "missing": "skip", "fields": fields}},
            "net": {"use": "model:mlp", "in": {"x": "batch.x"},
                    "with": {"input": "x", "output": "value", "size": 1, "hidden": []}},
            "loss": {"use": "loss:mse", "in": {"prediction": "net.value", "target": f"batch.{target}"}}}
        self.write("table.json", json.dumps({
            "format": 1, "name": "table", "run": {"seed": 1, "device": "cpu", "threads": 1}, "nodes": nodes,
            "fit": {"data": "train", "loss": "loss", "epochs": 1}}))

    def test_rows_that_a_table_left_out_are_told_once_and_logged(self):
        self.table([{"name": "x", "columns": ["a"]}, {"name": "y", "columns": ["b"]}], "y", "1,2,Ulm", "2,,Ulm", "3,4,Ulm")
        told = '1 of 3 rows lacks a value and was left out ("missing": "skip")'
        for command in ("probe", "run"):
            code, _, err = self.tenon(command, "table.json")
            self.assertEqual(code, 0, err)
            self.assertEqual(err.count(told), 1, err)
        log = [json.loads(line) for line in (self.folder / "runs/table/0001/log.jsonl").read_text().splitlines()]
        self.assertEqual(sum(told in event.get("text", "") for event in log), 1)

    def test_text_that_comes_to_a_port_is_told_with_its_place_and_cure(self):
        fields = [{"name": "x", "columns": ["a"]}, {"name": "town", "type": "text"}]
        self.table(fields, "town", "1,2,Ulm", "2,2,Bern")
        for command in (["check", "--shapes"], ["run"], ["run", "--no-preflight"], ["probe"]):
            code, _, err = self.tenon(command[0], "table.json", *command[1:])
            self.assertEqual(code, 2, err)
            self.assertTrue(err.startswith("error[text-field]: "), err)
            self.assertIn("/nodes/loss/in/target", err)
            self.assertIn("put transform:encode_categories before the loader", err)

    def test_text_that_nothing_reads_is_told_at_the_loader(self):
        fields = [{"name": "x", "columns": ["a"]}, {"name": "y", "columns": ["b"]}, {"name": "town", "type": "text"}]
        self.table(fields, "y", "1,2,Ulm", "2,2,Bern")
        for command in (["run"], ["run", "--no-preflight"], ["probe"]):
            code, _, err = self.tenon(command[0], "table.json", *command[1:])
            self.assertEqual(code, 4, err)
            self.assertIn("error[text-field]: ", err)
            self.assertIn("/nodes/train/in", err)


if __name__ == "__main__":
    unittest.main()
