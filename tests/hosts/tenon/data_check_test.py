"""`tenon data check`: faults planted in data are found, each by its name; sound data gives none."""

import json
import time
import unittest

import numpy
from program import BUILD, SOURCE, ProgramTest

RUN = {"seed": 1, "device": "cpu", "threads": 1}
SCHEMA = SOURCE / "schemas/data-check-1.schema.json"


def table(rows, header="length,width,label"):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows), ""])


class CheckingTest(ProgramTest):
    """Three tables of two measures and one of three classes."""

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(5)
        self.rows = {part: [[f"{a:.6f}", f"{b:.6f}", i % 3] for i, (a, b) in enumerate(random.normal(size=(size, 2)))]
                     for part, size in (("train", 60), ("val", 30), ("test", 30))}
        self.write_rows()

    def write_rows(self):
        for part, rows in self.rows.items():
            self.write(f"{part}.csv", table(rows))

    def pipeline(self, change=None, name="pipe.json"):
        fields = [{"name": "x", "columns": ["length", "width"]}, {"name": "label", "type": "integer"}]
        nodes = {"net": {"use": "model:mlp", "in": {"x": "batch.x"},
                         "with": {"input": "x", "classes": 3, "hidden": [4]}},
                 "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}},
                 "acc": {"use": "metric:accuracy", "in": {"logits": "net.logits", "target": "batch.label"}},
                 "opt": {"use": "optimizer:sgd", "of": "net"}}
        for part in self.rows:
            nodes[f"{part}_set"] = {"use": "dataset:csv", "with": {"path": f"{part}.csv", "fields": fields}}
            nodes[part] = {"use": "loader:threads", "in": f"{part}_set", "with": {"batch": 8}}
        pipeline = {"format": 1, "name": "checked", "run": RUN, "nodes": nodes,
                    "fit": {"data": "train", "loss": "loss", "epochs": 1},
                    "validate": {"data": "val", "metrics": ["acc"]}, "test": {"data": "test", "metrics": ["acc"]}}
        if change is not None:
            change(pipeline)
        return self.write(name, json.dumps(pipeline))

    def check(self, *arguments, pipe=None, code=0):
        """The report, which follows its schema."""
        outcome = self.tenon("data", "check", pipe or self.pipeline(), "--format", "json", *arguments)
        self.assertEqual(outcome.code, code, outcome.err + outcome.out)
        report = json.loads(outcome.out)
        self.assertEqual(report["exit_code"], code)
        try:
            from jsonschema import Draft7Validator
        except ImportError:
            return report
        errors = [f"{error.json_path}: {error.message}"
                  for error in Draft7Validator(json.loads(SCHEMA.read_text())).iter_errors(report)]
        self.assertEqual(errors, [])
        return report

    def only(self, report, code, severity):
        self.assertEqual([(each["code"], each["severity"]) for each in report["findings"]], [(code, severity)],
                         report["findings"])
        return report["findings"][0]


class DataCheckTest(CheckingTest):
    def test_sound_data_gives_no_finding(self):
        report = self.check()
        self.assertEqual((report["findings"], report["errors"], report["warnings"]), ([], 0, 0))
        self.assertEqual([(part["path"], part["size"], part["read"]) for part in report["parts"]],
                         [("fit", 60, 60), ("validate", 30, 30), ("test", 30, 30)])
        outcome = self.tenon("data", "check", "pipe.json")
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.assertTrue(outcome.out.endswith("nothing is wrong with the data\n"), outcome.out)
        self.assertEqual(self.tenon("data", "check", "pipe.json", "--strict").code, 0)

    def test_the_demo_and_all_that_it_holds_is_sound(self):
        report = self.check(pipe="digits.json")
        self.assertEqual(report["findings"], [])
        self.assertEqual(sum(part["size"] for part in report["parts"]), 1797)
        [train] = [part for part in report["parts"] if part["path"] == "fit"]
        self.assertEqual(train["left_out"], ["shift"])
        [label] = [field for field in train["seen"] if field["name"] == "label"]
        self.assertEqual([each["number"] for each in label["classes"]], list(range(10)))
        self.assertEqual(sum(each["count"] for each in label["classes"]), train["size"])

    def test_numbers_are_those_of_numpy_by_the_names_of_columns(self):
        [fit] = self.check("--on", "train")["parts"]
        values = numpy.array([row[:2] for row in self.rows["train"]], float).astype(numpy.float32).astype(float)
        [x] = [field for field in fit["stored"] if field["name"] == "x"]
        self.assertEqual([column["name"] for column in x["columns"]], ["length", "width"])
        for column, expected in zip(x["columns"], values.T):
            self.assertAlmostEqual(column["mean"], expected.mean(), places=12)
            self.assertAlmostEqual(column["deviation"], expected.std(), places=12)
            self.assertEqual((column["min"], column["max"], column["count"]), (expected.min(), expected.max(), 60))

    def test_the_report_does_not_depend_on_the_number_of_threads(self):
        self.rows["train"][7][1] = "1e30"
        self.write_rows()
        pipe = self.pipeline()
        outcomes = {self.tenon("data", "check", pipe, "--format", "json", "--workers", str(n)).out for n in (1, 2, 5)}
        self.assertEqual(len(outcomes), 1)

    def test_a_label_out_of_range_ends_with_4_and_names_a_sample(self):
        for label in (3, -1):
            with self.subTest(label=label):
                self.rows["val"][11][2] = label
                self.write_rows()
                finding = self.only(self.check(code=4), "label-range", "error")
                self.assertEqual((finding["paths"], finding["field"]), (["validate"], "label"))
                self.assertIn(f"sample 11 of \"val_set\" with {label}", finding["message"])
                self.assertIn('"net", which has 3 (0 to 2)', finding["message"])
        self.assertEqual(self.check("--on", "train", "--on", "test")["findings"], [])

    def test_a_label_that_the_loss_ignores_is_in_range(self):
        self.rows["train"][11][2] = -100
        self.write_rows()
        self.assertEqual(self.check()["findings"], [])

    def test_a_constant_column_is_named(self):
        for row in self.rows["train"]:
            row[1] = 2.5
        self.write_rows()
        finding = self.only(self.check(), "constant-column", "warning")
        self.assertIn('field "x", column width of "train_set" is 2.5', finding["message"])
        self.check("--strict", code=4)

    def test_values_that_are_not_finite_are_named(self):
        x = numpy.arange(40, dtype=numpy.float32).reshape(20, 2)
        x[13, 1] = numpy.nan
        numpy.save(self.folder / "x.npy", x)
        numpy.save(self.folder / "label.npy", numpy.arange(20) % 3)

        def change(pipeline):
            pipeline["nodes"]["train_set"] = {"use": "dataset:npy", "with": {"fields": [
                {"name": "x", "path": "x.npy", "dtype": "float32", "shape": [2]},
                {"name": "label", "path": "label.npy", "dtype": "int64", "shape": []}]}}

        finding = self.only(self.check(pipe=self.pipeline(change)), "not-finite", "warning")
        self.assertEqual(finding["paths"], ["fit"])
        self.assertIn("column #2", finding["message"])
        self.assertIn("the first in sample 13", finding["message"])

    def test_samples_of_training_in_the_test_are_counted_and_named(self):
        self.rows["test"][4] = list(self.rows["train"][17])
        self.rows["test"][9] = [*self.rows["train"][2][:2], 0]  # another label does not make another sample
        self.write_rows()
        report = self.check()
        finding = self.only(report, "leaked-samples", "warning")
        self.assertEqual(finding["paths"], ["test", "fit"])
        self.assertEqual(report["duplicates"], [{"path": "test", "other": "fit", "count": 2, "examples": [
            {"index": 4, "other": 17}, {"index": 9, "other": 2}]}])

    def test_samples_of_validation_in_the_test_are_told_and_those_within_a_part_are_a_note(self):
        self.rows["test"][4] = list(self.rows["val"][3])
        self.rows["train"][50] = list(self.rows["train"][20])
        self.write_rows()
        report = self.check("--strict", code=4)
        self.assertEqual([(each["code"], each["severity"], each["paths"]) for each in report["findings"]],
                         [("leaked-samples", "warning", ["test", "validate"]), ("repeated-samples", "note", ["fit"])])

    def test_validating_on_the_training_data_is_told(self):
        def change(pipeline):
            pipeline["nodes"]["val"]["in"] = "train_set"
            del pipeline["nodes"]["val_set"]

        finding = self.only(self.check(pipe=self.pipeline(change)), "same-data", "warning")
        self.assertIn('"train_set"', finding["message"])

    def test_an_empty_class_is_named_where_it_is_missing(self):
        self.rows["val"] = [row for row in self.rows["val"] if row[2] != 1]
        self.write_rows()
        finding = self.only(self.check(), "missing-class", "warning")
        self.assertEqual(finding["paths"], ["validate"])
        self.assertEqual(finding["message"], 'no sample of "val_set" has class 1 in field "label"')

    def test_imbalance_is_told(self):
        self.rows["train"] = [row for i, row in enumerate(self.rows["train"]) if row[2] != 2 or i == 2]
        self.write_rows()
        self.only(self.check(), "imbalance", "warning")

    def test_classes_that_a_transform_learns_have_their_names(self):
        names = ["ash", "oak", "elm"]
        for rows in self.rows.values():
            for row in rows:
                row[2] = names[row[2]]
        self.rows["val"] = [row for row in self.rows["val"] if row[2] != "oak"]
        self.write_rows()

        def change(pipeline):
            for part in self.rows:
                pipeline["nodes"][f"{part}_set"]["with"]["fields"][1]["type"] = "text"
                node = {"use": "transform:encode_categories", "in": "train_set", "with": {"fields": ["label"]}}
                pipeline["nodes"][f"{part}_x"] = node if part == "train" else {"call": "train_x", "in": f"{part}_set"}
                pipeline["nodes"][part]["in"] = f"{part}_x"

        finding = self.only(self.check(pipe=self.pipeline(change)), "missing-class", "warning")
        self.assertIn("(oak)", finding["message"])
        self.assertEqual(self.check("--on", "test", pipe="pipe.json")["findings"], [])

    def test_the_scale_of_targets_is_told_and_standardizing_cures_it(self):
        random = numpy.random.default_rng(1)
        for part in ("train", "val", "test"):
            self.write(f"{part}.csv", table([[f"{v:.6f}" for v in (*random.normal(size=2), 2e5 + 5e4 * random.normal())]
                                             for _ in range(50)], "length,width,price"))

        def change(pipeline, scale=False):
            nodes = pipeline["nodes"]
            nodes["net"]["with"] = {"input": "x", "output": "value", "size": 1, "hidden": [4]}
            nodes["loss"] = {"use": "loss:mse", "in": {"prediction": "net.value", "target": "batch.price"}}
            nodes["acc"] = {"use": "metric:mean_error", "in": {"prediction": "net.value", "target": "batch.price"}}
            for part in self.rows:
                nodes[f"{part}_set"]["with"]["fields"][1] = {"name": "price", "columns": ["price"]}
                if scale:
                    node = {"use": "transform:standardize", "in": "train_set", "with": {"fields": ["price"]}}
                    nodes[f"{part}_x"] = node if part == "train" else {"call": "train_x", "in": f"{part}_set"}
                    nodes[part]["in"] = f"{part}_x"

        finding = self.only(self.check(pipe=self.pipeline(change)), "target-scale", "warning")
        self.assertIn("transform:standardize", finding["message"])
        self.assertEqual(self.check(pipe=self.pipeline(lambda pipeline: change(pipeline, True)))["findings"], [])

    def test_data_of_predict_that_is_not_there_yet_is_a_note(self):
        def change(pipeline):
            pipeline["nodes"]["new_set"] = {"use": "dataset:csv", "with": {"path": "new.csv", "fields": [
                {"name": "x", "columns": ["length", "width"]}]}}
            pipeline["nodes"]["new"] = {"use": "loader:threads", "in": "new_set", "with": {"batch": 8}}
            pipeline["predict"] = {"data": "new", "outputs": ["net.logits"]}

        pipe = self.pipeline(change)
        report = self.check(pipe=pipe)
        self.assertIn("new.csv", self.only(report, "not-read", "note")["message"])
        self.assertEqual(len(report["parts"]), 3)
        self.write("new.csv", table([["1", "2"]], "length,width"))
        self.assertEqual([part["path"] for part in self.check(pipe=pipe)["parts"]],
                         ["fit", "validate", "test", "predict"])

    def test_a_few_samples_come_from_all_over(self):
        report = self.check("--samples", "20", "--on", "train")
        self.assertEqual((report["parts"][0]["size"], report["parts"][0]["read"]), (60, 20))
        self.assertEqual(report["findings"], [])

    def test_mistakes_of_the_command_line_and_missing_data_have_their_codes(self):
        pipe = self.pipeline()
        for words, part in ((["--on", "elsewhere"], 'no data for "elsewhere"; there is train, validate, test'),
                            (["--samples", "0"], "--samples takes"), (["--workers", "x"], "--workers takes")):
            outcome = self.tenon("data", "check", pipe, *words)
            self.assertEqual((outcome.code, outcome.out), (2, ""), outcome.err)
            self.assertIn(part, outcome.err)
        (self.folder / "val.csv").unlink()
        outcome = self.tenon("data", "check", pipe)
        self.assertEqual((outcome.code, outcome.out), (4, ""), outcome.err)
        self.assertIn("val.csv", outcome.err)

    def test_more_samples_than_memory_can_hold_are_refused_and_a_few_are_read(self):
        def change(pipeline):
            nodes = pipeline["nodes"]
            nodes["once"] = nodes["train_set"]
            nodes["train_set"] = {"use": "dataset:repeat", "in": "once", "with": {"times": 2**56}}

        pipe = self.pipeline(change)
        outcome = self.tenon("data", "check", pipe, "--on", "train")
        self.assertEqual((outcome.code, outcome.out), (6, ""), outcome.err)
        self.assertIn(f'"train_set" has {60 * 2**56} samples, and to compare all of them takes', outcome.err)
        self.assertIn("--samples", outcome.err)
        self.assertEqual(self.check("--on", "train", "--samples", "50", pipe=pipe)["parts"][0]["read"], 50)

    def test_progress_is_shown_on_a_terminal_alone_and_leaves_no_trace(self):
        pipe = self.pipeline()
        shown = self.tenon_on_terminal("data", "check", pipe, "--color=never", columns=100).out
        self.assertIn("60 of 60 samples, 100 %", shown)
        self.assertEqual(self.tenon("data", "check", pipe).err, "")

    def test_a_sample_that_hangs_is_named_and_ends_with_4(self):
        stalling = json.dumps({"use": "dataset:stalling", "with": {"after": 700, "milliseconds": 60000}})
        begin = time.monotonic()
        outcome = self.tenon("data", "check", "digits.json", "--on", "train", "--set", f"nodes.train_set={stalling}",
                             "--set", 'nodes.train.with.sample_timeout="300 ms"', "--plugin-path",
                             str(BUILD / "tests" / "plugins" / "tenon_faulty.so"))
        self.assertEqual((outcome.code, outcome.out), (4, ""), outcome.err)
        self.assertRegex(outcome.err, r'"train_set" \(dataset:stalling\), sample 7\d\d of "train_set"')
        self.assertLess(time.monotonic() - begin, 30)


class SharedLabelTest(CheckingTest):
    """Training reads shares of the classes, and validation their numbers."""

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(4)
        self.labels = {part: numpy.arange(len(rows)) % 3 for part, rows in self.rows.items()}
        for part, labels in self.labels.items():
            numpy.save(self.folder / f"{part}_image.npy", random.normal(size=(len(labels), 1, 4, 4)).astype("float32"))
        self.write_labels()

    def write_labels(self):
        for part, labels in self.labels.items():
            numpy.save(self.folder / f"{part}_label.npy", labels.astype("int64"))

    def pipeline(self, change=None, name="pipe.json", shares="batch_mixup"):
        def to_shares(pipeline):
            nodes = pipeline["nodes"]
            nodes["net"] = {"use": "model:mlp", "in": {"image": "batch.image"}, "with": {"classes": 3, "hidden": [4]}}
            nodes["loss"]["use"] = "loss:soft_cross_entropy"
            for part in self.rows:
                fields = [{"name": "image", "path": f"{part}_image.npy", "dtype": "float32", "shape": [1, 4, 4]},
                          {"name": "label", "path": f"{part}_label.npy", "dtype": "int64", "shape": []}]
                nodes[f"{part}_set"] = {"use": "dataset:npy", "with": {"fields": fields}}
            if shares == "one_hot":
                nodes["hot"] = {"use": "transform:one_hot", "in": "train_set",
                                "with": {"fields": ["label"], "classes": 3}}
                nodes["train"]["in"] = "hot"
            else:
                nodes["mixed"] = {"use": f"transform:{shares}", "in": "train", "with": {"classes": 3}}
                pipeline["fit"]["data"] = "mixed"
            if change is not None:
                change(pipeline)

        return super().pipeline(to_shares, name)

    def test_a_label_of_training_out_of_range_is_found_before_it_is_mixed(self):
        for shares in ("batch_mixup", "batch_cutmix"):
            self.assertEqual(self.check(pipe=self.pipeline(shares=shares))["findings"], [])
            for label in (3, -1):
                with self.subTest(shares=shares, label=label):
                    self.labels["train"][17] = label
                    self.write_labels()
                    finding = self.only(self.check(pipe="pipe.json", code=4), "label-range", "error")
                    self.assertEqual((finding["paths"], finding["field"]), (["fit"], "label"))
                    self.assertIn(f'sample 17 of "train_set" with {label}', finding["message"])
            self.labels["train"][17] = 17 % 3
            self.write_labels()

    def test_what_training_has_of_the_classes_is_told_of_shares_too(self):
        for shares in ("batch_mixup", "one_hot"):
            pipe = self.pipeline(shares=shares)
            for codes, labels in (([], [0, 1, 2]), (["imbalance"], [0, 1] * 14 + [2, 0]),
                                  (["missing-class"], [0, 1]), (["one-class", "missing-class"], [1])):
                with self.subTest(shares=shares, labels=labels):
                    self.labels["train"] = numpy.resize(labels, 60)
                    self.write_labels()
                    findings = self.check(pipe=pipe)["findings"]
                    self.assertEqual([(each["code"], each["paths"]) for each in findings],
                                     [(code, ["fit"]) for code in codes], findings)

    def test_a_field_that_training_does_not_read_may_hold_anything(self):
        def change(pipeline):
            nodes = pipeline["nodes"]
            nodes["loss"] = {"use": "loss:mse", "in": {"prediction": "net.logits", "target": "batch.y"}}
            nodes["train_set"]["with"]["fields"].append({"name": "y", "path": "y.npy", "dtype": "float32", "shape": [3]})
            nodes["train"]["in"] = "train_set"
            del nodes["hot"]

        numpy.save(self.folder / "y.npy", numpy.random.default_rng(6).normal(size=(60, 3)).astype("float32"))
        self.labels["train"] = -1 - numpy.arange(60)
        self.write_labels()
        self.assertEqual(self.check(pipe=self.pipeline(change, shares="one_hot"))["findings"], [])


class ImageTest(CheckingTest):
    """Folders of PNG files of different sizes."""

    def setUp(self):
        super().setUp()
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("this Python has no Pillow")
        random = numpy.random.default_rng(3)
        self.images = {}
        for part, size in (("train", 24), ("val", 9), ("test", 9)):
            for i in range(size):
                name = ("ash", "oak", "elm")[i % 3]
                pixels = random.integers(0, 256, (12 + i % 4, 16, 3), numpy.uint8)
                path = self.folder / part / name / f"{i:03}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pixels).save(path)
                self.images.setdefault(part, []).append(pixels)

    def pipeline(self, change=None, name="pipe.json", resize=True):
        def to_images(pipeline):
            nodes = pipeline["nodes"]
            nodes["net"] = {"use": "model:cnn", "in": {"image": "batch.image"}, "with": {"classes": 3}}
            nodes["norm"] = {"use": "transform:normalize_image", "in": "train_set",
                             "with": {"mean": [0.5], "std": [0.25]}}
            for part in self.rows:
                nodes[f"{part}_set"] = {"use": "dataset:image_folder", "with": {
                    "path": part, "classes": ["ash", "oak", "elm"]}}
                if resize:
                    nodes[f"{part}_r"] = {"use": "transform:resize", "in": f"{part}_set",
                                          "with": {"height": 16, "width": 16}}
                source = f"{part}_r" if resize else f"{part}_set"
                if part == "train":
                    nodes["norm"]["in"] = source
                else:
                    nodes[f"{part}_n"] = {"call": "norm", "in": source}
                nodes[part]["in"] = "norm" if part == "train" else f"{part}_n"
            if change is not None:
                change(pipeline)

        return super().pipeline(to_images, name)

    def test_a_corrupt_file_ends_with_4_and_is_named(self):
        broken = self.folder / "val" / "elm" / "005.png"
        broken.write_bytes(broken.read_bytes()[:60])
        report = self.check(code=4)
        finding = self.only(report, "unreadable-sample", "error")
        self.assertEqual((finding["paths"], finding["node"]), (["validate"], "val_set"))
        [validate] = [part for part in report["parts"] if part["path"] == "validate"]
        [failure] = validate["failures"]
        self.assertIn("005.png", failure["message"])
        text = self.tenon("data", "check", "pipe.json").out
        self.assertIn("Samples of validate that cannot be read", text)
        self.assertIn("005.png", text)

    def test_all_corrupt_files_are_listed_behind_a_cache_and_a_split_too(self):
        names = ["000.png", "007.png", "011.png", "020.png"]
        for file in self.folder.glob("train/*/*.png"):
            if file.name in names:
                file.write_bytes(file.read_bytes()[:60])
        for with_ in ({}, {"fill": "start"}, {"path": "cached"}, {"path": "cached"}):
            def change(pipeline, with_=with_):
                nodes = pipeline["nodes"]
                nodes["files"] = {"use": "dataset:image_folder", "with": {"path": "train"}}
                nodes["kept"] = {"use": "dataset:cache", "in": "files", "with": with_}
                fractions = {"train": 0.5, "val": 0.25, "test": 0.25}
                for part in self.rows:
                    nodes[f"{part}_set"] = {"use": "dataset:split", "in": "kept", "with": {
                        "part": part, "fractions": fractions, "stratify": "label"}}

            with self.subTest(with_=with_):
                report = self.check(pipe=self.pipeline(change), code=4)
                messages = [failure["message"] for part in report["parts"] for failure in part["failures"]]
                self.assertEqual(sorted(name for name in names for text in messages if name in text), names)
                self.assertEqual(len(messages), 4, messages)
                for finding in report["findings"]:
                    if finding["severity"] == "error":
                        self.assertEqual(finding["code"], "unreadable-sample")
                outcome = self.tenon("data", "check", "pipe.json")
                self.assertRegex(outcome.err,
                                 r"of \d+ items cannot be read, the first is item \d+ of the input: .*\.png")
                sizes = [part["size"] for part in report["parts"]]
                self.assertEqual(sizes, [12, 6, 6])

    def test_a_file_that_is_mended_is_found_by_a_cache_at_the_next_start(self):
        broken = self.folder / "train" / "ash" / "003.png"
        whole = broken.read_bytes()
        damaged = bytearray(whole)
        damaged[len(whole) // 2:] = bytes(len(whole) - len(whole) // 2)

        def change(pipeline):
            nodes = pipeline["nodes"]
            nodes["train_files"] = {**nodes["train_set"]}
            nodes["train_set"] = {"use": "dataset:cache", "in": "train_files", "with": {"path": "cached"}}

        broken.write_bytes(damaged)
        report = self.check("--on", "train", pipe=self.pipeline(change), code=4)
        self.assertIn("003.png", report["parts"][0]["failures"][0]["message"])
        broken.write_bytes(whole)
        self.assertEqual(self.check("--on", "train", pipe="pipe.json")["parts"][0]["failures"], [])

    def test_corrupt_files_that_the_loader_tolerates_are_a_warning(self):
        broken = self.folder / "val" / "elm" / "005.png"
        broken.write_bytes(broken.read_bytes()[:60])
        report = self.check("--set", 'nodes.val.with.bad_sample={"policy":"skip","max":1}')
        self.assertIn("allows 1 in an epoch", self.only(report, "unreadable-sample", "warning")["message"])
        self.check("--strict", "--set", 'nodes.val.with.bad_sample={"policy":"skip","max":1}', code=4)

    def test_sizes_and_what_to_write_for_normalising_are_those_of_numpy(self):
        report = self.check()
        self.assertEqual(report["findings"], [])
        fit = report["parts"][0]
        [image] = [field for field in fit["stored"] if field["name"] == "image"]
        self.assertEqual((image["sizes"]["smallest"], image["sizes"]["largest"], image["sizes"]["different"]),
                         ([12, 16, 3], [15, 16, 3], 4))
        pixels = numpy.concatenate([each.reshape(-1, 3) for each in self.images["train"]]) / 255
        for column, expected in zip(image["columns"], pixels.T * 255):
            self.assertAlmostEqual(column["mean"], expected.mean(), places=9)
            self.assertAlmostEqual(column["deviation"], expected.std(), places=9)
        [scale] = fit["scales"]
        self.assertEqual((scale["node"], scale["divided_by"], len(scale["mean"])), ("norm", 255, 3))
        [label] = [field for field in fit["seen"] if field["name"] == "label"]
        self.assertEqual([each["name"] for each in label["classes"]], ["ash", "oak", "elm"])
        self.assertIn('"mean": [', self.tenon("data", "check", "pipe.json").out)

    def test_pasting_what_it_says_gives_mean_0_and_deviation_1(self):
        for bits, largest in ((8, 255), (16, 65535)):
            def change(pipeline, bits=bits):
                for part in self.rows:
                    pipeline["nodes"][f"{part}_set"]["with"]["bits"] = bits

            pipe = self.pipeline(change)
            [scale] = self.check("--on", "train", pipe=pipe)["parts"][0]["scales"]
            self.assertEqual(scale["divided_by"], largest)
            with_ = json.dumps({"mean": scale["mean"], "std": scale["std"]})
            report = self.check("--on", "train", "--set", f"nodes.norm.with={with_}", pipe=pipe)
            [image] = [field for field in report["parts"][0]["seen"] if field["name"] == "image"]
            for column in image["columns"]:
                self.assertAlmostEqual(column["mean"], 0, places=4)
                self.assertAlmostEqual(column["deviation"], 1, places=4)

    def test_sizes_that_do_not_go_into_one_batch_are_told(self):
        report = self.check(pipe=self.pipeline(resize=False))
        self.assertEqual([(each["code"], each["paths"]) for each in report["findings"]],
                         [("ragged-field", [part["path"]]) for part in report["parts"]])

    def test_equal_images_under_other_names_are_found(self):
        source = self.folder / "train" / "ash" / "003.png"
        (self.folder / "test" / "oak" / "copy.png").write_bytes(source.read_bytes())
        finding = self.only(self.check(), "leaked-samples", "warning")
        self.assertIn("1 sample of test", finding["message"])


if __name__ == "__main__":
    unittest.main()
