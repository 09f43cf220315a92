"""`tenon inspect`: a checkpoint's content, a run's checkpoints, and what is damaged."""

import json
import re
import shutil
import unittest

from checkpoint import make_checkpoint, make_run
from program import ProgramTest


def columns(line):
    return re.split(r"  +", line.strip())


def sections(page):
    """The rows below each title; the first rows have none."""
    parts = page.split("\n\n")
    found = {"": [columns(line) for line in parts[0].splitlines()]}
    for part in parts[1:]:
        title, *rows = part.splitlines()
        found[title] = [columns(row) for row in rows]
    return found


def damage(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


def tree(folder):
    return {path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*")}


class InspectCheckpointTest(ProgramTest):
    def inspect(self, *arguments, code=0):
        done = self.tenon("inspect", *map(str, arguments))
        self.assertEqual(done.code, code, done.err)
        return done

    def test_the_page_tells_all(self):
        path = make_run(self.folder) / "checkpoints" / "step-000040"
        page = sections(self.inspect(path).out)
        self.assertEqual(
            page[""],
            [
                ["checkpoint", str(path)],
                ["pipeline", "digits"],
                ["position", "step 40 (39 applied), epoch 2, micro-batch 3, 2560 samples"],
                ["tensors", "3 tensors, 10 elements, 40 B"],
                page[""][4],
            ],
        )
        self.assertRegex(page[""][4][1], r"^3 files, \S+ [KM]?i?B, verified$")
        self.assertEqual(page["Metrics"], [["validate.acc", "0.5"]])
        self.assertIn(["cpu_capability", "AVX2"], page["Provenance"])
        self.assertIn(["data.train_set.size", "1077"], page["Provenance"])
        self.assertEqual(
            page["model.net.safetensors: 2 tensors, 6 elements, 24 B"],
            [
                ["net.bias", "float32[2]", "8 B"],
                ["net.weight", "float32[2, 2]", "16 B"],
                ["net.tied", "the same as net.weight"],
            ],
        )
        self.assertIn("optimizer.opt.safetensors: 1 tensor, 4 elements, 16 B", page)
        self.assertEqual(
            page["State of components"],
            [
                ["opt", "step/net.weight", "40"],
                ["stop.0 (observer:patience)", "best", "0.5"],
                ["stop.0 (observer:patience)", "waited", "2"],
            ],
        )
        files = page["Files (SHA-256)"]
        self.assertEqual([row[0] for row in files], ["model.net.safetensors", "optimizer.opt.safetensors", "state.json"])
        for row in files:
            self.assertRegex(row[2], r"^[0-9a-f]{64}$")
            self.assertEqual(row[3], "verified")

    def test_what_is_pending_is_told(self):
        path = make_checkpoint(self.folder, pending=["validate"])
        self.assertIn(["pending", "validate"], sections(self.inspect(path).out)[""])
        self.assertEqual(json.loads(self.inspect(path, "--format", "json").out)["pending"], ["validate"])

    def test_what_was_pending_and_has_been_done_is_not(self):
        path = make_run(self.folder, pending=["validate"]) / "checkpoints" / "step-000020"
        self.assertNotIn(["pending", "validate"], sections(self.inspect(path).out)[""])
        self.assertEqual(json.loads(self.inspect(path, "--format", "json").out)["pending"], [])

    def test_statistics_are_of_finite_values(self):
        path = make_checkpoint(self.folder)
        page = sections(self.inspect(path, "--tensors").out)
        rows = page["model.net.safetensors: 2 tensors, 6 elements, 24 B"]
        self.assertEqual(rows[0], ["min", "max", "mean", "not finite"])
        self.assertEqual(rows[1], ["net.bias", "float32[2]", "8 B", "-0.5000", "2.0000", "0.7500", "0"])
        self.assertEqual(rows[2], ["net.weight", "float32[2, 2]", "16 B", "-3.0000", "1.0000", "-0.5833", "1"])

    def test_json_holds_the_same(self):
        path = make_run(self.folder) / "checkpoints" / "step-000020"
        whole = json.loads(self.inspect(path, "--tensors", "--format", "json").out)
        self.assertEqual(whole["checkpoint"], str(path))
        self.assertIs(whole["verified"], True)
        self.assertEqual(whole["position"], {"step": 20, "applied": 19, "epoch": 1, "batch": 3, "samples": 1280})
        self.assertEqual(whole["pending"], [])
        self.assertEqual(whole["metrics"], {"validate.acc": 0.75})
        self.assertEqual(whole["tensors"], {"count": 3, "elements": 10, "bytes": 40})
        self.assertEqual(whole["stop"], [{"use": "observer:patience", "state": {"best": 0.5, "waited": 2}}])
        model = whole["files"][0]
        self.assertEqual((model["name"], model["verified"], model["aliases"]),
                         ("model.net.safetensors", True, {"net.tied": "net.weight"}))
        self.assertEqual(
            model["tensors"][0],
            {"name": "net.bias", "dtype": "float32", "shape": [2], "bytes": 8, "min": -0.5, "max": 2.0, "mean": 0.75,
             "non_finite": 0},
        )
        self.assertNotIn("min", json.loads(self.inspect(path, "--format", "json").out)["files"][0]["tensors"][0])

    def test_damaged_files_are_named_and_the_rest_is_shown(self):
        path = make_checkpoint(self.folder)
        damage(path / "model.net.safetensors")
        (path / "optimizer.opt.safetensors").unlink()
        done = self.inspect(path, code=9)
        page = sections(done.out)
        self.assertTrue(page[""][-1][1].endswith("2 damaged"))
        self.assertEqual(page["Files (SHA-256)"][0][3], "damaged: its content is not what the manifest says")
        self.assertEqual(page["Files (SHA-256)"][1][3], "damaged: No such file or directory")
        self.assertEqual(page["Files (SHA-256)"][2][3], "verified")
        self.assertIn(f"error[checkpoint]: the checkpoint {path} is damaged: model.net.safetensors: its content", done.err)
        self.assertIn("; optimizer.opt.safetensors: No such file", done.err)
        whole = json.loads(self.inspect(path, "--format", "json", code=9).out)
        self.assertIs(whole["verified"], False)
        self.assertEqual([file["verified"] for file in whole["files"]], [False, False, True])

    def test_a_damaged_state_leaves_out_what_it_held(self):
        path = make_checkpoint(self.folder)
        (path / "state.json").write_text("{")
        page = sections(self.inspect(path, code=9).out)
        self.assertEqual([row[0] for row in page[""]], ["checkpoint", "tensors", "files"])
        self.assertNotIn("Provenance", page)

    def test_without_a_manifest_nothing_is_believed(self):
        path = make_checkpoint(self.folder)
        (path / "manifest.json").write_text("[]")
        done = self.inspect(path, code=9)
        self.assertEqual(done.out, "")
        self.assertIn("manifest.json", done.err)

    def test_what_is_neither_is_an_error(self):
        for place in (self.folder, self.folder / "none", self.folder / "digits.json"):
            self.assertIn("is neither a run directory", self.inspect(place, code=9).err)


class InspectRunTest(ProgramTest):
    def inspect(self, *arguments, code=0):
        done = self.tenon("inspect", *map(str, arguments))
        self.assertEqual(done.code, code, done.err)
        return done

    def test_a_run_lists_its_checkpoints(self):
        run = make_run(self.folder)
        before = tree(run)
        for place in (run, f"{run}/"):
            page = sections(self.inspect(place).out)
            self.assertEqual(page[""], [["run", str(run)], ["state", "finished: done"], ["checkpoints", "2"]])
            self.assertEqual(
                page["Checkpoints"],
                [["step-000020", "epoch 1", "validate.acc 0.75", "best"],
                 ["step-000040", "epoch 2", "validate.acc 0.5", "last"]])
            newest = [title for title in page if title.startswith("checkpoint ")]
            self.assertEqual([columns(title)[1] for title in newest], [f"{run}/checkpoints/step-000040"])
        self.assertEqual(tree(run), before)

    def test_a_damaged_checkpoint_is_marked_and_the_one_before_it_is_shown(self):
        run = make_run(self.folder, ended=None)
        damage(run / "checkpoints" / "step-000040" / "state.json")
        done = self.inspect(run, code=9)
        page = sections(done.out)
        self.assertEqual(page[""][1], ["state", "not finished"])
        self.assertEqual(page["Checkpoints"][1][-1], "last, damaged")
        self.assertIn("checkpoints/step-000020\n", done.out)
        self.assertRegex(done.err, r"warning: the checkpoint \S+step-000040 is damaged: state.json")
        whole = json.loads(self.inspect(run, "--format", "json", code=9).out)
        self.assertEqual([each["verified"] for each in whole["checkpoints"]], [True, False])
        self.assertEqual(whole["newest"]["position"]["step"], 20)
        self.assertEqual(whole["checkpoints"][0]["metrics"], {"validate.acc": 0.75})

    def test_a_run_without_a_usable_checkpoint_ends_with_9(self):
        run = make_run(self.folder, steps=(20,))
        damage(run / "checkpoints" / "step-000020" / "state.json")
        self.assertIn("no checkpoint of ", self.inspect(run, code=9).err)
        shutil.rmtree(run / "checkpoints" / "step-000020")
        done = self.inspect(run, code=9)
        self.assertIn(" has no checkpoint", done.err)
        self.assertIn(["checkpoints", "none"], sections(done.out)[""])

    def test_what_an_interruption_left_is_marked(self):
        run = make_run(self.folder)
        index = run / "checkpoints" / "index.json"
        whole = json.loads(index.read_text())
        whole["history"][1]["interim"] = True
        index.write_text(json.dumps(whole))
        self.assertEqual(sections(self.inspect(run).out)["Checkpoints"][1][-1], "last, interim")
        listed = json.loads(self.inspect(run, "--format", "json").out)["checkpoints"]
        self.assertEqual([each["interim"] for each in listed], [False, True])

    def test_a_damaged_index_is_a_warning(self):
        run = make_run(self.folder)
        (run / "checkpoints" / "index.json").write_text("{")
        done = self.inspect(run)
        self.assertIn("warning: ", done.err)
        self.assertIn("index.json is damaged", done.err)
        self.assertEqual(sections(done.out)["Checkpoints"][0], ["step-000020", "not in index.json"])

    def test_a_real_run_verifies(self):
        done = self.tenon("run", "digits.json", "--set", "vars.epochs=3")
        self.assertEqual(done.code, 0, done.err)
        page = sections(self.inspect("runs/digits/0001").out)
        self.assertEqual(page[""][1], ["state", "finished: done"])
        whole = json.loads(self.inspect("runs/digits/0001/checkpoints/step-000051", "--format", "json").out)
        self.assertIs(whole["verified"], True)
        self.assertEqual((whole["position"]["step"], whole["position"]["epoch"]), (51, 3))
        self.assertEqual(sorted(whole["metrics"]), ["validate.acc"])


if __name__ == "__main__":
    unittest.main()
