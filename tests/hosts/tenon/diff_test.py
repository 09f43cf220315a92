"""`tenon diff`: two pipelines, two runs, two checkpoints."""

import hashlib
import json
import re
import shutil
import unittest

from checkpoint import floats, make_checkpoint, make_run, safetensors
from program import ProgramTest


def columns(line):
    return re.split(r"  +", line.strip())


def replace_file(checkpoint, name, content):
    """Another content for a file of a checkpoint, whose manifest is brought in line."""
    (checkpoint / name).write_bytes(content)
    manifest = json.loads((checkpoint / "manifest.json").read_text())
    for entry in manifest["files"]:
        if entry["name"] == name:
            entry.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    (checkpoint / "manifest.json").write_text(json.dumps(manifest))


class DiffTest(ProgramTest):
    def diff(self, *arguments, code=0):
        done = self.tenon("diff", *map(str, arguments))
        self.assertEqual(done.code, code, done.err)
        return done

    def whole(self, *arguments):
        return json.loads(self.diff(*arguments, "--format", "json").out)


class PipelineTest(DiffTest):
    def test_a_pipeline_equals_itself_in_another_order(self):
        other = self.demo(lambda pipeline: pipeline.update(nodes=dict(reversed(pipeline["nodes"].items()))))
        self.assertEqual(self.diff("digits.json", other), (0, "equal\n", ""))
        whole = self.whole("digits.json", other)
        self.assertEqual((whole["kind"], whole["equal"], whole["differences"]), ("pipelines", True, []))

    def test_values_differ_with_both_origins(self):
        other = self.demo_text('"lr": 0.002', '"lr": 0.01')
        lines = self.diff("digits.json", other).out.splitlines()
        rows = [columns(line) for line in lines]
        self.assertEqual([row[:2] for row in rows[:-1]],
                         [["vars.lr", "0.002 -> 0.01"], ["nodes.opt.with.lr", "0.002 -> 0.01"]])
        self.assertRegex(rows[1][2], r"^vars.lr at digits.json:5:\d+ -> vars.lr at changed.json:5:\d+$")
        self.assertEqual(lines[-1], "different: 2 differences")

    def test_defaults_take_part_where_they_differ(self):
        other = self.demo_text('"optimizer:adamw"', '"optimizer:sgd"')
        rows = {columns(line)[0]: columns(line)[1:] for line in self.diff("digits.json", other).out.splitlines()}
        self.assertEqual(rows["nodes.opt.use"][0], '"optimizer:adamw" -> "optimizer:sgd"')
        self.assertEqual(rows["nodes.opt.with.momentum"], ["added: 0.0", "default of optimizer:sgd"])
        self.assertEqual(rows["nodes.opt.with.beta1"], ["removed: 0.9", "default of optimizer:adamw"])

    def test_a_renamed_node_is_removed_and_added(self):
        text = (self.folder / "digits.json").read_text().replace('"shift"', '"move"')
        rows = {columns(line)[0]: columns(line)[1] for line in
                self.diff("digits.json", self.write("other.json", text)).out.splitlines() if "  " in line}
        self.assertEqual(rows["nodes.shift"], "removed: transform:random_shift")
        self.assertEqual(rows["nodes.move"], "added: transform:random_shift")
        self.assertEqual(rows["nodes.train_x.in"], '"shift" -> "move"')

    def test_json_has_values_and_origins(self):
        whole = self.whole("digits.json", self.demo_text('"pixels": 1', '"pixels": 2'))
        self.assertEqual((whole["a"], whole["b"], whole["equal"]), ("digits.json", "changed.json", False))
        (change,) = whole["differences"]
        self.assertEqual((change["pointer"], change["what"]), ("/nodes/shift/with/pixels", "changed"))
        self.assertEqual((change["before"]["value"], change["after"]["value"]), (1, 2))
        self.assertEqual(change["after"]["origin"]["at"]["file"], "changed.json")

    def test_pipelines_with_errors_are_compared_as_far_as_they_are_understood(self):
        other = self.demo_text('"pixels": 1', '"pixles": 1')
        done = self.diff("digits.json", other, code=2)
        self.assertIn("unknown-key", done.err)
        self.assertIn("pixles", done.out)
        self.write("broken.json", "{")
        done = self.diff("digits.json", "broken.json", code=2)
        self.assertEqual(done.out, "")
        self.assertIn("broken.json:1:", done.err)


class OperandTest(DiffTest):
    def test_both_must_be_there_and_of_one_sort(self):
        run = make_run(self.folder)
        checkpoint = run / "checkpoints" / "step-000020"
        (self.folder / "empty").mkdir()
        for a, b, wanted in (
            ("digits.json", "nowhere.json", '"nowhere.json" does not exist'),
            ("digits.json", run, "is its config.resolved.json"),
            (run, checkpoint, "is a checkpoint"),
            (checkpoint, "digits.json", "is a pipeline file"),
            ("empty", run, "is neither a run directory"),
            (run, "empty", "is neither a run directory"),
            ("", run, "does not exist"),
        ):
            with self.subTest(a=a, b=b):
                done = self.diff(a, b, code=2)
                self.assertEqual(done.out, "")
                self.assertIn(wanted, done.err)


class CheckpointTest(DiffTest):
    def setUp(self):
        super().setUp()
        self.one = make_checkpoint(self.folder / "one")
        self.other = make_checkpoint(self.folder / "other")

    def test_equal_checkpoints_are_told_with_their_size(self):
        self.assertRegex(self.diff(self.one, f"{self.other}/").out, r"^equal: \d files, \S+ K?i?B\n$")
        self.assertIs(self.whole(self.one, self.other)["equal"], True)

    def test_tensors_differ_by_so_much(self):
        weights = {"net.bias": ("F32", [2], floats(-0.5, 2.25)),
                   "net.more": ("F32", [1], floats(1)),
                   "net.weight": ("F32", [2, 2], floats(1, float("nan"), -3, 0.25))}
        replace_file(self.other, "model.net.safetensors", safetensors(weights, {"net.tied": "net.weight"}))
        lines = self.diff(self.one, self.other).out.splitlines()
        self.assertEqual(lines[0], "model.net.safetensors")
        rows = {columns(line)[0]: columns(line)[-1] for line in lines[1:-1]}
        self.assertEqual(set(rows), {"net.bias", "net.more"})
        self.assertRegex(rows["net.bias"], r"^1 of 2 elements differ.* by at most 0.25$")
        self.assertEqual(rows["net.more"], "only in B")
        self.assertEqual(lines[-1], "different: 2 differences, the largest 0.25 (net.bias in model.net.safetensors)")
        bias = self.whole(self.one, self.other)["differences"][0]
        self.assertEqual((bias["entry"], bias["max_abs"]), ("net.bias", 0.25))

    def test_a_damaged_checkpoint_is_compared_with_a_warning(self):
        content = bytearray((self.other / "model.net.safetensors").read_bytes())
        content[-1] ^= 1
        (self.other / "model.net.safetensors").write_bytes(bytes(content))
        done = self.diff(self.one, self.other)
        self.assertIn("is damaged: model.net.safetensors", done.err)
        self.assertIn("net.weight", done.out)

    def test_a_folder_of_that_name_without_a_checkpoint_is_told(self):
        (self.folder / "step-000001").mkdir()
        done = self.diff(self.one, "step-000001")
        self.assertIn("warning", done.err)
        self.assertIn("only in A", done.out)


class RunTest(DiffTest):
    def setUp(self):
        super().setUp()
        self.one = self.make("one", 0.75)
        self.other = self.make("other", 0.75)

    def make(self, name, value, **changes):
        run = make_run(self.folder / name, metrics=(value, value))
        config = {"name": "digits", "fit": {"epochs": 2}} | changes.get("config", {})
        lock = [{"id": "org.a", "version": "1.0.0", "build_id": "aa"}, {"id": "org.b", "version": "1.0.0", "build_id": "bb"}]
        (run / "config.resolved.json").write_text(json.dumps(config))
        (run / "environment.json").write_text(json.dumps({"threads": 1, "variables": [{"name": "OMP", "value": "1"}]}))
        (run / "lock.json").write_text(json.dumps({"libtorch": "2.11.0", "plugins": changes.get("lock", lock)}))
        events = [
            {"event": "step", "step": 20, "time": 1, "values": {"train.loss": 0.5, "train.waiting": value}},
            {"event": "validate", "step": 20, "time": 2, "values": {"validate.acc": 0.25}},
            {"event": "validate", "step": 40, "time": 3, "values": {"validate.acc": value}},
            {"event": "test", "step": 40, "time": 4, "values": {"test.acc": "NaN"}},
            {"event": "run_end", "step": 40, "time": value, "text": "done"},
        ]
        (run / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        return run

    def test_runs_that_differ_in_times_alone_are_equal(self):
        log = self.other / "log.jsonl"
        log.write_text(re.sub(r'"time": \d+', '"time": 77', log.read_text()))
        done = self.diff(self.one, self.other)
        self.assertEqual(done.out.splitlines()[-1], "equal")
        self.assertIs(self.whole(self.one, self.other)["equal"], True)

    def test_configuration_plugins_and_results_stand_side_by_side(self):
        plugins = [{"id": "org.b", "version": "1.0.0", "build_id": "cc"}, {"id": "org.a", "version": "1.0.0", "build_id": "aa"}]
        other = self.make("third", 0.875, config={"fit": {"epochs": 3}}, lock=plugins)
        out = self.diff(self.one, other).out
        rows = [columns(line) for line in out.splitlines()]
        self.assertIn(["A", str(self.one), "finished: done"], rows)
        self.assertIn(["fit.epochs", "2 -> 3"], rows)
        self.assertIn(['plugins."org.b".build_id', '"bb" -> "cc"'], rows)
        self.assertEqual(sum("org.a" in line for line in out.splitlines()), 0)  # their order is no difference
        self.assertIn(["validate.acc", "0.75", "0.875", "+0.125"], rows)
        self.assertIn(["train.loss", "0.5", "0.5"], rows)
        self.assertIn(["test.acc", "nan", "nan"], rows)
        self.assertNotIn("train.waiting", out)
        self.assertEqual(out.splitlines()[-1], "different: 1 configuration difference, 1 lock difference, 1 result")
        whole = self.whole(self.one, other)
        self.assertEqual(whole["configuration"], [{"pointer": "/fit/epochs", "what": "changed", "a": 2, "b": 3}])
        self.assertEqual(whole["results"]["validate.acc"], {"a": 0.75, "b": 0.875})
        self.assertEqual(whole["results"]["test.acc"], {"a": "NaN", "b": "NaN"})

    def test_a_run_that_lacks_files_is_compared_with_what_it_has(self):
        (self.other / "lock.json").unlink()
        (self.other / "log.jsonl").unlink()
        out = self.diff(self.one, self.other).out
        self.assertIn("B has no lock.json", out)
        self.assertIn(["validate.acc", "0.75", "-"], [columns(line) for line in out.splitlines()])
        self.assertIn("not finished", out)
        self.assertTrue(out.splitlines()[-1].startswith("different: 1 lock difference, "), out)

    def test_a_damaged_file_is_named(self):
        (self.other / "environment.json").write_text('{"threads": 1')
        self.assertIn("environment.json", self.diff(self.one, self.other, code=9).err)
        shutil.copy(self.one / "environment.json", self.other)
        log = self.other / "log.jsonl"
        strange = b'not json\n{"event": "validate", "values": [1]}\n\xff\n[]\n{"event": "test", "values": {"test.acc": {}}}\n'
        log.write_bytes(strange + log.read_bytes())
        self.assertEqual(self.diff(self.one, self.other).out.splitlines()[-1], "equal")

    def test_nothing_is_changed(self):
        def tree():
            return {path: path.stat().st_mtime_ns for path in self.folder.rglob("*")}

        before = tree()
        self.diff(self.one, self.other)
        self.assertEqual(tree(), before)


if __name__ == "__main__":
    unittest.main()
