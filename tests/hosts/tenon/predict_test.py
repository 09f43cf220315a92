"""`tenon predict`: the same rows in every format, those that `eval` counted, and nothing half made."""

import csv
import hashlib
import io
import json
import os
import shutil
import unittest

import numpy
from program import SOURCE, ProgramTest

SHORT = ["--set", "vars.epochs=2", "--set", 'nodes.sched.with.warmup="5 steps"', "--set", "nodes.net.with.width=4",
         "--no-preflight"]
OUTPUTS = ["net.logits", "batch.label", {"name": "digit", "from": "net.logits", "as": "argmax"},
           {"name": "chance", "from": "net.logits", "as": "softmax"}]
WORDS = ("few", "many")  # classes 0 and 1
TOWNS = ("Ulm", "Bonn, old", "Kiel")
TABLE = "size,town,price\n" + "".join(
    f'{i % 7},"{TOWNS[i % 3]}",{1000 + 100 * (i % 7) + 10 * (i % 3)}\n' for i in range(60))


def hashes(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*") if path.is_file()}


class PredictTest(ProgramTest):
    def trained(self):
        """A short run of the demo that can predict its test set; returns its folder."""
        def change(pipeline):
            pipeline["predict"] = {"data": "test", "outputs": OUTPUTS}
            del pipeline["export"], pipeline["nodes"]["script"]

        code, _, err = self.tenon("run", self.demo(change), *SHORT)
        self.assertEqual(code, 0, err)
        return self.folder / "runs" / "digits" / "0001"

    def predict(self, *arguments):
        outcome = self.tenon("predict", *arguments)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome.out

    def test_all_formats_hold_the_same_rows_and_those_that_eval_counts(self):
        run = self.trained()
        before = hashes(run)
        rows = [json.loads(line) for line in self.predict(str(run)).splitlines()]
        table = list(csv.DictReader(io.StringIO(self.predict(str(run), "--format", "csv"))))
        self.assertEqual(self.predict(str(run), "--format", "npy", "--out", "arrays"), "")
        arrays = {path.stem: numpy.load(path) for path in (self.folder / "arrays").iterdir()}
        self.assertEqual(set(arrays), {"index", "net.logits", "batch.label", "digit", "chance"})
        self.assertEqual(hashes(run), before)

        self.assertEqual(arrays["net.logits"].dtype, numpy.float32)
        self.assertEqual(arrays["index"].tolist(), list(range(len(rows))))
        for name in ("index", "batch.label", "digit"):
            self.assertEqual([row[name] for row in rows], arrays[name].tolist())
            self.assertEqual([int(row[name]) for row in table], arrays[name].tolist())
        for name in ("net.logits", "chance"):
            self.assertEqual(arrays[name].shape, (len(rows), 10))
            self.assertTrue((numpy.array([row[name] for row in rows], numpy.float32) == arrays[name]).all())
            cells = numpy.array([[row[f"{name}.{i}"] for i in range(10)] for row in table], numpy.float32)
            self.assertTrue((cells == arrays[name]).all())
        exact = numpy.exp(arrays["net.logits"].astype(numpy.float64))
        numpy.testing.assert_allclose(arrays["chance"], exact / exact.sum(1, keepdims=True), rtol=1e-6)
        self.assertTrue((arrays["digit"] == arrays["net.logits"].argmax(1)).all())

        code, out, err = self.tenon("eval", str(run), "--on", "test", "--format", "json")
        self.assertEqual(code, 0, err)
        accuracy = (arrays["digit"] == arrays["batch.label"]).mean()
        self.assertIn(f"{accuracy:.15g}"[:12], out)

    def test_another_input_is_read_and_texts_and_units_come_back(self):
        self.write("houses.csv", TABLE)
        table = {"path": "houses.csv", "fields": [{"name": "x", "columns": ["size"]}, {"name": "y", "columns": ["price"]},
                                                  {"name": "town", "type": "text"}]}
        nodes = {
            "rows": {"use": "dataset:csv", "with": table},
            "named": {"use": "transform:encode_categories", "in": "rows", "with": {"fields": ["town"]}},
            "scaled": {"use": "transform:standardize", "in": "named", "with": {"fields": ["x", "y"]}},
            "train": {"use": "loader:threads", "in": "scaled", "with": {"batch": 10, "workers": 0}},
            "net": {"use": "model:mlp", "in": {"x": "batch.x"},
                    "with": {"input": "x", "output": "value", "size": 1, "hidden": []}},
            "towns": {"use": "model:mlp", "in": {"x": "batch.x"}, "with": {"input": "x", "classes": 3, "hidden": []}},
            "loss": {"use": "loss:mse", "in": {"prediction": "net.value", "target": "batch.y"}},
            "where": {"use": "loss:cross_entropy", "in": {"logits": "towns.logits", "target": "batch.town"}},
            "opt": {"use": "optimizer:sgd", "of": ["net", "towns"], "with": {"lr": 0.1}},
            "new_rows": {"use": "dataset:csv", "with": table},
            "new_named": {"call": "named", "in": "new_rows"},
            "new_scaled": {"call": "scaled", "in": "new_named"},
            "new": {"use": "loader:threads", "in": "new_scaled", "with": {"batch": 16, "workers": 0}},
        }
        pipeline = {
            "format": 1, "name": "houses", "run": {"seed": 1, "device": "cpu", "threads": 1}, "nodes": nodes,
            "fit": {"data": "train", "loss": {"loss": 1, "where": 1}, "epochs": 20},
            "predict": {"data": "new", "outputs": [{"name": "price", "from": "net.value"},
                                                   {"name": "town", "from": "towns.logits", "as": "argmax"},
                                                   {"name": "chance", "from": "towns.logits", "as": "softmax"}]},
            "observe": [],
        }
        self.write("houses.json", json.dumps(pipeline))
        code, _, err = self.tenon("run", "houses.json")
        self.assertEqual(code, 0, err)
        run = str(self.folder / "runs" / "houses" / "0001")
        rows = [json.loads(line) for line in self.predict(run).splitlines()]
        self.assertEqual(len(rows), 60)
        for row in rows:
            self.assertEqual(list(row), ["index", "price", "town", "chance"])
            self.assertIn(row["town"], TOWNS)
            self.assertEqual(max(row["chance"], key=row["chance"].get), row["town"])
        # 100 more for each unit of size, and 10 on average for the town: in the units of the file.
        truth = numpy.array([1010 + 100 * (i % 7) for i in range(60)])
        numpy.testing.assert_allclose([row["price"][0] for row in rows], truth, atol=30)

        self.write("two.csv", "size,town,price\n6,Kiel,0\n0,Ulm,0\n")
        few = [json.loads(line) for line in self.predict(run, "--input", "two.csv").splitlines()]
        self.assertEqual([row["index"] for row in few], [0, 1])
        self.assertEqual([row["price"] for row in few], [rows[6]["price"], rows[0]["price"]])
        table = self.predict(run, "--input", "two.csv", "--format", "csv").splitlines()
        self.assertTrue(table[0].startswith("index,price,town,"), table[0])
        self.assertIn('"chance.Bonn, old"', table[0])

        for key, value in (("shuffle", True), ("last", "drop"), ("sampler", {"replacement": True}),
                           ("sampler", {"samples": 5}), ("sampler", {"balance": "town"}),
                           ("buckets", {"field": "town", "pool": 2})):
            changed = self.predict(run, "--set", f"nodes.new.with.{key}={json.dumps(value)}")
            self.assertEqual([json.loads(line) for line in changed.splitlines()], rows, key)

        self.write("strange.csv", "size,town,price\n6,Bern,0\n")
        code, out, err = self.tenon("predict", run, "--input", "strange.csv")
        self.assertEqual((code, out), (4, ""), err)
        self.assertTrue(err.startswith('error[data]: "new_named" (transform:encode_categories), sample 0 of '), err)
        self.assertIn("/nodes/new_named/call", err)

        # Where the loader tolerates it, rows that cannot be made are left out of every format, and told.
        self.write("mixed.csv", "size,town,price\n" + "6,Bern,0\n" * 3 + "6,Kiel,0\n" * 5 + "0,Rom,0\n0,Ulm,0\n")
        for policy in ("skip", "substitute"):
            tolerant = [run, "--input", "mixed.csv", "--set",
                        "nodes.new.with=" + json.dumps({"batch": 2, "bad_sample": {"policy": policy, "max": 5}})]
            code, out, err = self.tenon("predict", *tolerant)
            self.assertEqual(code, 0, err)
            self.assertTrue(err.startswith("note: without a row: 4 samples could not be made; "
                                           '"new_named" (transform:encode_categories), sample 0 of '), err)
            few = [json.loads(line) for line in out.splitlines()]
            self.assertEqual([row["index"] for row in few], [*range(3, 8), 9])
            self.assertEqual([row["price"] for row in few], [rows[6]["price"]] * 5 + [rows[0]["price"]])
            table = list(csv.DictReader(io.StringIO(self.predict(*tolerant, "--format", "csv"))))
            self.assertEqual([int(row["index"]) for row in table], [*range(3, 8), 9])
            self.predict(*tolerant, "--format", "npy", "--out", policy)
            self.assertEqual(numpy.load(self.folder / policy / "index.npy").tolist(), [*range(3, 8), 9])
            price = numpy.load(self.folder / policy / "price.npy")
            self.assertEqual(price.tolist(), [row["price"] for row in few])

        (self.folder / "houses.csv").unlink()
        self.assertEqual(len(self.predict(run, "--input", "two.csv").splitlines()), 2)

    def table_pipeline(self, **more):
        """A binary classifier with one logit over a table of which a row lacks a value."""
        self.write("cells.csv", "size,kind\n" + "".join(f"{i % 8},{WORDS[i % 8 > 3]}\n" for i in range(40)) + "NA,few\n")
        nodes = {
            "rows": {"use": "dataset:csv",
                     "with": {"path": "cells.csv", "missing": "skip",
                              "fields": [{"name": "size", "columns": ["size"]}, {"name": "kind", "type": "text"},
                                         {"name": "amount", "column": "size"}]}},
            "named": {"use": "transform:encode_categories", "in": "rows", "with": {"fields": ["kind"]}},
            "joined": {"use": "transform:concat", "in": "named", "with": {"fields": ["size"], "into": "x"}},
            "data": {"use": "loader:threads", "in": "joined", "with": {"batch": 10, "workers": 0}},
            "net": {"use": "model:mlp", "in": {"x": "batch.x"}, "with": {"input": "x", "size": 1, "hidden": []}},
            "loss": {"use": "loss:bce", "in": {"logits": "net.logits", "target": "batch.kind"}},
            "acc": {"use": "metric:accuracy", "in": {"logits": "net.logits", "target": "batch.kind"}},
            "opt": {"use": "optimizer:adamw", "of": "net", "with": {"lr": 0.1}},
        }
        pipeline = {
            "format": 1, "name": "cells", "run": {"seed": 1, "device": "cpu", "threads": 1}, "nodes": nodes,
            "fit": {"data": "data", "loss": "loss", "epochs": 40},
            "validate": {"data": "data", "metrics": ["acc"], "every": "40 epochs"},
            "predict": {"data": "data", "outputs": {"kind": {"from": "net.logits", "as": "argmax"},
                                                    "chance": {"from": "net.logits", "as": "sigmoid"},
                                                    "truth": "batch.kind"}},
            "observe": [],
        } | more
        self.write("cells.json", json.dumps(pipeline, indent=1))
        return "cells.json"

    def test_one_logit_tells_two_classes_apart_by_its_sign_and_rows_left_out_are_told(self):
        code, _, err = self.tenon("run", self.table_pipeline())
        self.assertEqual(code, 0, err)
        run = str(self.folder / "runs" / "cells" / "0001")
        told = 'note: dataset "rows": ' + str(self.folder / "cells.csv") + ": 1 of 41 rows lacks a value"
        code, out, err = self.tenon("predict", run)
        self.assertEqual(code, 0, err)
        self.assertTrue(err.startswith(told), err)
        rows = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([row["kind"] for row in rows], [WORDS[row["chance"][0] > 0.5] for row in rows])
        self.assertEqual({row["kind"] for row in rows}, set(WORDS))
        code, out, err = self.tenon("eval", run, "--format", "json")
        self.assertEqual(code, 0, err)
        found = [json.loads(line)["message"] for line in err.splitlines()]
        self.assertEqual([text[:20] for text in found], ['dataset "rows": ' + str(self.folder)[:4]])
        right = sum(row["kind"] == row["truth"] for row in rows) / len(rows)
        self.assertAlmostEqual(json.loads(out)["metrics"]["validate.acc"], right)

    def test_a_file_that_is_not_there_yet_is_asked_for(self):
        self.write("houses.csv", TABLE)
        fields = [{"name": "x", "columns": ["size"]}, {"name": "y", "columns": ["price"]}]
        read = {"use": "dataset:csv", "with": {"path": "houses.csv", "fields": fields}}
        later = {"use": "dataset:csv", "with": {"path": "later.csv", "fields": fields[:1]}}
        nodes = {
            "rows": read, "train": {"use": "loader:threads", "in": "rows", "with": {"batch": 10}},
            "later": later, "new": {"use": "loader:threads", "in": "later", "with": {"batch": 10}},
            "net": {"use": "model:mlp", "in": {"x": "batch.x"}, "with": {"input": "x", "output": "value", "size": 1}},
            "loss": {"use": "loss:mse", "in": {"prediction": "net.value", "target": "batch.y"}},
            "opt": {"use": "optimizer:adamw", "of": "net"},
        }
        self.write("houses.json", json.dumps({
            "format": 1, "name": "houses", "nodes": nodes, "fit": {"data": "train", "loss": "loss", "epochs": 1},
            "predict": {"data": "new", "outputs": ["net.value"]}, "observe": []}))
        code, out, err = self.tenon("run", "houses.json")
        self.assertEqual(code, 0, err)
        self.assertIn(" predict runs/houses/0001 --input FILE\n", out)
        code, out, err = self.tenon("predict", "runs/houses/0001")
        self.assertEqual((code, out), (4, ""), err)
        self.assertIn("/nodes/later/with/path", err)
        self.assertIn("   = --input FILE reads another file in its place", err)
        code, _, err = self.tenon("predict", "runs/houses/0001", "--input", "nowhere.csv")
        self.assertEqual(code, 4, err)
        self.assertNotIn("--input FILE", err)
        self.write("later.csv", "size\n3\n")
        self.assertEqual(len(self.predict("runs/houses/0001").splitlines()), 1)

    def test_outputs_that_cannot_be_are_refused_before_training(self):
        wrong = {
            '{"a": "batch.sizes"}': ("unknown-field", '/predict/outputs/a', 'did you mean "batch.size"?'),
            '["net.logits", {"name": "s", "from": "batch.size"}]':
                ("unknown-field", "/predict/outputs/1/from",
                 'fields of "data": kind int64[N], amount float32[N], x float32[N, 1]'),
            '{"p": {"from": "net.logits", "as": "softmax"}}': ("config", "/predict/outputs/p/from", 'write "sigmoid"'),
            '{"k": {"from": "batch.amount", "as": "argmax"}}':
                ("config", "/predict/outputs/k/from",
                 '"batch.amount" is float32[N], and argmax takes an axis of classes'),
        }
        name = self.table_pipeline()
        for outputs, (code, place, hint) in wrong.items():
            sets = ["--set", f"predict.outputs={outputs}"]
            if "sizes" in outputs:
                sets += ["--set", "nodes.joined.with.keep=true"]
            for command in (["run", name], ["check", name, "--shapes"]):
                with self.subTest(outputs=outputs, command=command[0]):
                    done = self.tenon(*command, *sets)
                    self.assertEqual(done.code, 2, done.err)
                    self.assertIn(f"error[{code}]: ", done.err)
                    self.assertRegex(done.err, rf"  {place}\n")
                    self.assertIn(hint, done.err)
                    self.assertFalse((self.folder / "runs").exists())

    def test_a_run_that_exports_opens_no_data_of_predict(self):
        def change(pipeline):
            fields = [{"name": "image", "path": "missing.npy", "dtype": "uint8", "shape": [1, 8, 8]}]
            pipeline["nodes"] |= {"fresh": {"use": "dataset:npy", "with": {"fields": fields}},
                                  "fresh_x": {"call": "train_x", "in": "fresh"},
                                  "new": {"use": "loader:threads", "in": "fresh_x", "with": {"batch": 8}}}
            pipeline["predict"] = {"data": "new", "outputs": ["net.logits"]}
            for gone in ("validate", "test", "stop", "checkpoint"):
                del pipeline[gone]
            for gone in ("val_set", "val_x", "val", "test_set", "test_x", "test", "acc"):
                del pipeline["nodes"][gone]

        code, _, err = self.tenon("run", self.demo(change), *SHORT)
        self.assertEqual(code, 0, err)
        self.assertTrue((self.folder / "runs/digits/0001/exports/script.pt").exists())
        code, _, err = self.tenon("predict", "runs/digits/0001")
        self.assertEqual(code, 4, err)
        self.assertIn("missing.npy", err)

    def test_other_data_may_leave_nodes_of_the_run_without_use(self):
        def change(pipeline):
            pipeline["nodes"]["more_x"] = dict(pipeline["nodes"]["test_x"], **{"in": "test_set"})
            pipeline["nodes"]["more"] = dict(pipeline["nodes"]["test"], **{"in": "more_x"})
            pipeline["predict"] = {"data": "more", "outputs": OUTPUTS}
            del pipeline["export"], pipeline["nodes"]["script"]

        code, _, err = self.tenon("run", self.demo(change), *SHORT)
        self.assertEqual(code, 0, err)
        run = str(self.folder / "runs" / "digits" / "0001")
        own = self.predict(run)
        self.assertEqual(self.predict(run, "--set", 'predict.data="test"'), own)
        other = self.predict(run, "--set", 'predict.data="val"')
        self.assertNotEqual(other, own)
        self.assertGreater(len(other.splitlines()), 0)

    def test_errors_say_what_to_do_and_write_nothing(self):
        run = str(self.trained())
        (self.folder / "full").mkdir()
        self.write("full/other.txt", "keep me")
        for words, wanted, parts in (
            ([run, "--format", "npy"], 2, ["--out"]),
            ([run, "--format", "npy", "--out", "full"], 10, ["full is not empty", "new folder"]),
            ([run, "--format", "xml"], 2, ["jsonl"]),
            ([run, "--input", ""], 2, ["--input needs the path of a file or folder"]),
            ([run, "--out", ""], 2, ["--out needs the path of a file or folder"]),
            ([run, "--out", "/sys/rows.jsonl"], 10, ["/sys/rows.jsonl", "with --out"]),  # nobody may write there
            ([run, "--input", "other.csv"], 2, ["--input", "test_set", "none is a path"]),
            ([run, "--set", "predict.data=\"nobody\""], 2, ["nobody"]),
            (["nowhere"], 9, ["nowhere"]),
            ([run, "--out", "no/such/folder.jsonl"], 10, ["no/such"]),
        ):
            with self.subTest(words=words):
                code, out, err = self.tenon("predict", *words)
                self.assertEqual((code, out), (wanted, ""), err)
                for part in parts:
                    self.assertIn(part, err)
        self.assertEqual([path.name for path in (self.folder / "full").iterdir()], ["other.txt"])

        weights = next(self.folder.glob("runs/digits/0001/checkpoints/*/model.net.safetensors"))
        weights.write_bytes(weights.read_bytes()[:-1] + b"?")
        code, out, err = self.tenon("predict", str(weights.parent), "--out", "rows.jsonl")
        self.assertEqual((code, out), (9, ""), err)
        self.assertIn("model.net.safetensors", err)
        self.assertFalse((self.folder / "rows.jsonl").exists())

    def images_run(self):
        """A run on images in folders, of which one has a name that is no UTF-8."""
        for number in range(4):
            for name in ("cat", "dog"):
                (self.folder / "images" / name).mkdir(parents=True, exist_ok=True)
                pixels = bytes((number * 40 + i) % 256 for i in range(8 * 8))
                (self.folder / "images" / name / f"{number}.pgm").write_bytes(b"P5 8 8 255\n" + pixels)
        os.rename(self.folder / "images/cat/0.pgm", os.fsencode(self.folder / "images/cat") + b"/k\xf6,ter.pgm")
        folder = {"use": "dataset:image_folder", "with": {"path": "images", "color": "grey"}}
        nodes = {
            "set": folder, "sized": {"use": "transform:resize", "in": "set", "with": {"height": 8, "width": 8}},
            "scaled": {"use": "transform:to_float", "in": "sized"},
            "train": {"use": "loader:threads", "in": "scaled", "with": {"batch": 4}},
            "net": {"use": "model:mlp", "in": {"image": "batch.image"}, "with": {"classes": 2, "hidden": []}},
            "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}},
            "opt": {"use": "optimizer:sgd", "of": "net"},
        }
        self.write("images.json", json.dumps({
            "format": 1, "name": "images", "run": {"device": "cpu"}, "nodes": nodes,
            "fit": {"data": "train", "loss": "loss", "epochs": 1},
            "predict": {"data": "train", "outputs": ["net.logits"]}, "observe": []}))
        code, _, err = self.tenon("run", "images.json")
        self.assertEqual(code, 0, err)
        return str(self.folder / "runs" / "images" / "0001")

    def test_names_of_files_that_are_no_utf8_read_the_same_in_every_format(self):
        run = self.images_run()
        rows = [json.loads(line)["item"] for line in self.predict(run).splitlines()]
        self.assertEqual(sum("k\ufffd,ter.pgm" in name for name in rows), 1, rows)
        table = csv.DictReader(io.StringIO(self.predict(run, "--format", "csv")))
        self.assertEqual([row["item"] for row in table], rows)

    def test_one_image_as_the_input_of_a_folder_is_told_what_to_do(self):
        run = self.images_run()
        for gone in (False, True):
            if gone:
                (self.folder / "one.pgm").write_bytes((self.folder / "images/dog/1.pgm").read_bytes())
                shutil.rmtree(self.folder / "images")
            image = "one.pgm" if gone else "images/dog/1.pgm"
            code, out, err = self.tenon("predict", run, "--input", image)
            self.assertEqual((code, out), (4, ""), err)
            self.assertIn(f"--input {image} is one file, and dataset:image_folder reads a folder: put the file into a "
                          "folder of its own, and name that", err)

    def test_a_run_without_the_section_is_told_how_to_add_it(self):
        code, _, err = self.tenon("run", "digits.json", *SHORT, "--set", "export=[]")
        self.assertEqual(code, 0, err)
        run = str(self.folder / "runs" / "digits" / "0001")
        code, out, err = self.tenon("predict", run)
        self.assertEqual((code, out), (2, ""))
        self.assertIn('no section "predict"', err)
        self.assertIn("--overlay", err)
        self.write("more.json", json.dumps({"predict": {"data": "test", "outputs": ["net.logits"]}}))
        self.assertEqual(len(self.predict(run, "--overlay", "more.json").splitlines()), 360)


if __name__ == "__main__":
    unittest.main()
