"""The example pipelines keep what their first lines state: trained to that result, checked, predicted, resumed."""

import csv
import filecmp
import gzip
import importlib.util
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import safetensors.numpy

import data_examples_test  # what is stated there needs data that a script makes

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
PROGRAM = BUILD / "bin" / "tenon"
PIPELINES = SOURCE / "sdk" / "examples" / "pipelines"
DATA = SOURCE / "sdk" / "examples" / "data"
TIME_LIMIT = 240  # seconds: far more than anything here takes

# What the first comment of each file states: at least this, or at most where a name ends with "<".
STATED = {
    "teacher": {"test.acc": 0.93},
    "distillation": {"test.acc": 0.9, "untaught<": 0.88},
    "two-heads": {"test.kind_acc": 0.95, "test.male_acc": 0.78},
    "adversarial": {"share": 0.3, "mean<": 0.2, "factor<": 1.25},
    "called-twice": {"test.acc": 0.93, "validate.moved.acc": 0.78, "alone<": 0.6},
    "part-export": {"test.acc": 0.91},
    "image-classification": {"test.acc": 0.95},
    "table-regression": {"test.r2": 0.75, "test.err<": 300},
    "table-classification": {"test.acc": 0.93, "test.each_class": 0.93},
}


def digits_of_test():
    """The embedded digits' test part: images uint8[360, 8, 8] and labels."""
    lines = (SOURCE / "plugins" / "datasets" / "digits" / "digits.inc").read_text().split()[::5]
    lines = [line.strip('",') for line in lines]
    pixels = np.array([[int(symbol, 17) for symbol in line[:64]] for line in lines], np.uint8)
    return pixels.reshape(-1, 8, 8), np.array([int(line[64]) for line in lines])


class Examples(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def tenon(self, *arguments):
        done = subprocess.run(
            [PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done

    def train(self, name, *sets):
        """The directory of a run of that example, and the values of its last validation and its test."""
        arguments = ["run", PIPELINES / f"{name}.jsonc", "--quiet", "--outcome", "outcome.json"]
        for each in sets:
            arguments += ["--set", each]
        self.tenon(*arguments)
        outcome = json.loads((self.folder / "outcome.json").read_text())
        return pathlib.Path(outcome["directory"]), outcome["validation"] | outcome["test"]

    def assert_stated(self, name, values):
        for key, bound in STATED[name].items():
            value = values[key.rstrip("<")]
            print(f"{name}: {key.rstrip('<')} {value:.4f}", flush=True)
            (self.assertLessEqual if key.endswith("<") else self.assertGreaterEqual)(value, bound, f"{name}: {key}")

    def predict(self, run, *arguments):
        """The table's columns by their names, numbers where they are."""
        out = self.tenon("predict", run, "--format", "csv", *arguments).stdout
        header, *rows = csv.reader(out.splitlines())
        self.assertEqual([row[0] for row in rows], [str(index) for index in range(len(rows))])
        columns = dict(zip(header, map(list, zip(*rows))))
        for column, cells in columns.items():
            if not re.search("[A-Z]", "".join(cells)):
                columns[column] = np.array(cells, float)
        return columns

    def checkpoint_of(self, run):
        index = json.loads((run / "checkpoints" / "index.json").read_text())
        return run / "checkpoints" / f"step-{index['best']:06d}"

    def test_every_example_checks_without_a_warning_and_states_its_result(self):
        files = sorted(PIPELINES.glob("*.json*"))
        self.assertEqual({file.stem for file in files}, STATED.keys() | data_examples_test.STATED.keys() | {"digits"})
        for file in files:
            done = self.tenon("check", file)
            self.assertEqual(done.stderr, "", file)
            if file.stem not in STATED:
                continue
            comment = " ".join(line for line in file.read_text().splitlines() if line.startswith("// "))
            stated = comment.partition("Stated result:")[2]
            for key, bound in STATED[file.stem].items():
                self.assertRegex(stated, rf"\b{re.escape(str(bound))}\b", f"{file}: {key}")

    def test_what_a_student_is_not_told_it_learns_from_a_teacher_trained_before(self):
        run, values = self.train("teacher")
        self.assert_stated("teacher", values)
        weights = self.checkpoint_of(run) / "model.teacher.safetensors"
        shipped = safetensors.numpy.load_file(DATA / "teacher.safetensors")
        ours = safetensors.numpy.load_file(weights)
        self.assertEqual({name: value.shape for name, value in ours.items()},
                         {name: value.shape for name, value in shipped.items()})

        own = f"vars.teacher={json.dumps(str(weights))}"
        student, values = self.train("distillation", own)
        _, alone = self.train("distillation", own, 'fit.loss={"soft":1e-9,"hard":1}')
        self.assert_stated("distillation", values | {"untaught": alone["test.acc"]})
        self.assertTrue(filecmp.cmp(weights, self.checkpoint_of(student) / "model.teacher.safetensors", shallow=False),
                        "the frozen teacher has changed")
        _, values = self.train("distillation")  # with the teacher that is shipped
        self.assertGreaterEqual(values["test.acc"], STATED["distillation"]["test.acc"])

    def test_two_heads_on_one_body_learn_two_things(self):
        run, values = self.train("two-heads")
        self.assert_stated("two-heads", values)
        predicted = self.predict(run)
        self.assertEqual(set(predicted["species"]), {"Adelie", "Chinstrap", "Gentoo"})
        self.assertTrue(((predicted["male"] >= 0) & (predicted["male"] <= 1)).all())

    def test_a_generator_learns_where_real_points_lie_and_resumes_to_the_same_bytes(self):
        run, _ = self.train("adversarial")
        columns = self.predict(run)
        generated, real = (np.stack([columns[f"{name}.0"], columns[f"{name}.1"]], 1) for name in ("generated", "real"))
        centres = [real[start::2].mean(0) for start in (0, 1)]  # sample i is of class i modulo 2
        side = (generated - sum(centres) / 2) @ (centres[1] - centres[0]) > 0
        factors = generated.std(0) / real.std(0)
        self.assert_stated("adversarial", {
            "share": min(side.mean(), 1 - side.mean()),
            "mean": np.abs(generated.mean(0) - real.mean(0)).max(),
            "factor": max(factors.max(), (1 / factors).max()),
        })
        self.tenon("verify", "resume", PIPELINES / "adversarial.jsonc", "--at", "5", "--set", "vars.epochs=2")

    def test_a_model_called_twice_learns_to_answer_alike_and_is_validated_by_name(self):
        run, values = self.train("called-twice")
        _, alone = self.train("called-twice", 'fit.loss={"right":1,"alike":1e-9}')
        self.assert_stated("called-twice", values | {"alone": alone["validate.moved.acc"]})
        log = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
        found = [line["values"].keys() for line in log if line["event"] == "validate"]
        for name, times in (("still", 20), ("moved", 10)):
            self.assertEqual(sum(f"validate.{name}.acc" in keys for keys in found), times, name)

    def test_an_exported_part_with_the_head_of_the_checkpoint_predicts_what_the_whole_does(self):
        run, values = self.train("part-export")
        self.assert_stated("part-export", values)
        self.assertEqual(sorted(path.name for path in (run / "exports").iterdir()),
                         ["features.pt", "features.pt.report.json"])
        report = json.loads((run / "exports" / "features.pt.report.json").read_text())
        self.assertEqual(report["model"], "body")
        self.assertIn("float32[17, 16]", [each["shape"] for each in report["comparisons"]])

        images, labels = digits_of_test()
        inputs = {"image": (images / np.float32(16)).astype(np.float32).reshape(-1, 1, 8, 8)}
        safetensors.numpy.save_file(inputs, self.folder / "images.safetensors")
        self.tenon("artefact-run", "--component", "exporter:torchscript", "--with", "{}",
                   "--file", run / "exports" / "features.pt", "--inputs", "images.safetensors",
                   "--outputs", "features.safetensors")
        features = safetensors.numpy.load_file(self.folder / "features.safetensors")["features"]
        head = safetensors.numpy.load_file(self.checkpoint_of(run) / "model.head.safetensors")
        logits = features @ head["head.weight"].T + head["head.bias"]
        predicted = self.predict(run)
        self.assertEqual(predicted["label"].tolist(), labels.tolist())
        self.assertEqual(predicted["digit"].tolist(), logits.argmax(1).tolist())
        self.assertAlmostEqual((predicted["digit"] == labels).mean(), values["test.acc"])

    def test_images_of_mnists_format_are_classified_from_packed_and_plain_files(self):
        run, values = self.train("image-classification")
        self.assert_stated("image-classification", values)
        images, labels = digits_of_test()
        whole = self.predict(run)
        self.assertAlmostEqual((whole["digit"] == labels).mean(), values["test.acc"])
        (self.folder / "new").write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, 20, 8, 8) + images[:20].tobytes())
        few = self.predict(run, "--input", "new")
        self.assertEqual(few["digit"].tolist(), whole["digit"][:20].tolist())
        np.testing.assert_allclose(few["probability.0"], whole["probability.0"][:20], atol=1e-5)

    def test_the_files_of_digits_are_what_their_script_writes(self):
        self.addCleanup(setattr, sys, "dont_write_bytecode", sys.dont_write_bytecode)
        sys.dont_write_bytecode = True  # nothing is written beside the script
        spec = importlib.util.spec_from_file_location("make_digits_idx", DATA / "make_digits_idx.py")
        script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(script)
        script.HERE = self.folder
        script.main()
        names = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(names, sorted(path.name for path in DATA.glob("digits-*")))
        for name in names:  # unpacked: another zlib packs otherwise
            self.assertEqual(gzip.decompress((self.folder / name).read_bytes()),
                             gzip.decompress((DATA / name).read_bytes()), name)

    def test_a_regression_tells_metrics_and_predictions_in_grams_as_numpy_computes_them(self):
        run, values = self.train("table-regression")
        self.assert_stated("table-regression", values)

        unused = ["new", "new_rows", *(f"new_{number}" for number in range(1, 6))]
        (self.folder / "known.json").write_text(json.dumps({
            "predict": {"data": "test", "outputs": {"mass": "net.mass", "actual": "batch.mass"}},
            "nodes": {name: {"disabled": True} for name in unused},
        }))
        known = self.predict(run, "--overlay", "known.json")
        with open(DATA / "penguins.csv", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if "NA" not in row.values()]
        self.assertLessEqual(set(known["actual"].round(2)), {float(row["body_mass_g"]) for row in rows})
        errors = known["mass"] - known["actual"]
        spread = known["actual"] - known["actual"].mean()
        self.assertAlmostEqual(np.abs(errors).mean(), values["test.err"], places=3)
        self.assertAlmostEqual(1 - (errors**2).sum() / (spread**2).sum(), values["test.r2"], places=5)

        # The network again, from its files, for rows that have no mass.
        new = [row for row in rows if row["island"] == "Dream"]
        columns = ["species", "sex", "bill_length_mm", "bill_depth_mm", "flipper_length_mm"]
        with open(self.folder / "new.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, columns, extrasaction="ignore")
            table.writeheader()
            table.writerows(new)
        features = np.array([[float(row[column]) for column in columns[2:]]
                             + [row["species"] == name for name in ("Adelie", "Chinstrap", "Gentoo")]
                             + [row["sex"] == name for name in ("female", "male")] for row in new], float)
        checkpoint = self.checkpoint_of(run)
        net, scale, mass = (safetensors.numpy.load_file(checkpoint / f"{name}.safetensors")
                            for name in ("model.net", "state.scale", "state.mass_scale"))
        scaled = (features - scale["features/mean"]) / scale["features/std"]
        hidden = np.maximum(scaled @ net["hidden1.linear.weight"].T + net["hidden1.linear.bias"], 0)
        expected = (hidden @ net["head.weight"].T + net["head.bias"]) * mass["mass/std"] + mass["mass/mean"]
        predicted = self.predict(run, "--input", "new.csv")
        np.testing.assert_allclose(predicted["mass"], expected[:, 0], rtol=1e-5)

    def test_a_table_of_words_and_numbers_is_classified_and_predictions_have_the_words(self):
        run, values = self.train("table-classification")
        self.assert_stated("table-classification", values)
        (self.folder / "new.csv").write_text(
            "sex,island,bill_depth_mm,bill_length_mm\n"
            "male,Biscoe,15.5,50\nfemale,Dream,17.9,37\nmale,Dream,19.5,51.5\n")
        predicted = self.predict(run, "--input", "new.csv")
        self.assertEqual(predicted["species"], ["Gentoo", "Adelie", "Chinstrap"])
        shares = np.stack([predicted[f"probability.{name}"] for name in ("Adelie", "Chinstrap", "Gentoo")], 1)
        np.testing.assert_allclose(shares.sum(1), 1, atol=1e-5)
        self.assertEqual(shares.argmax(1).tolist(), [2, 0, 1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
