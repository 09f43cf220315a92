"""`tenon init`: templates that check clean and train, written to new files alone."""

import csv
import io
import json
import os
import random
import re
import stat
import struct
import unittest

from program import SOURCE, ProgramTest

KINDS = {"rose": (5, 1.5, 30), "tulip": (3, 1, 18), "oak": (12, 7, 90)}  # length, width, weight
TEMPLATES = sorted(path.stem for path in (SOURCE / "sdk/templates/pipelines").glob("*.jsonc"))


class InitTest(ProgramTest):
    def test_without_a_template_all_are_listed_with_their_first_lines(self):
        code, out, err = self.tenon("init")
        self.assertEqual((code, err), (0, ""))
        self.assertLessEqual({"digits", "image-classification", "image-folder", "segmentation", "regression", "classification",
                              "minimal"}, set(TEMPLATES))
        lines = dict(re.split(r"  +", line, maxsplit=1) for line in out.splitlines())
        self.assertEqual(sorted(lines), TEMPLATES)
        for name, summary in lines.items():
            text = (SOURCE / f"sdk/templates/pipelines/{name}.jsonc").read_text()
            self.assertEqual(text.splitlines()[0], f"// {summary}.")

    def test_every_template_checks_clean_and_is_called_like_its_file(self):
        for name in TEMPLATES:
            with self.subTest(template=name):
                code, out, err = self.tenon("init", name)
                self.assertEqual((code, err), (0, ""))
                self.assertTrue(out.endswith(f"next: tenon check {name}.jsonc, then tenon data check {name}.jsonc, "
                                             f"then tenon run {name}.jsonc\n"), out)
                text = (self.folder / f"{name}.jsonc").read_text()
                self.assertEqual(text, (SOURCE / f"sdk/templates/pipelines/{name}.jsonc").read_text())
                self.assertEqual(text.count(f'"name": "{name}"'), 1)
                checked = self.tenon("check", f"{name}.jsonc")
                self.assertEqual((checked.code, checked.err), (0, ""))
                self.assertIn("no errors", checked.out)

    def test_every_template_has_only_short_lines(self):
        for name in TEMPLATES:
            for line in (SOURCE / f"sdk/templates/pipelines/{name}.jsonc").read_text().splitlines():
                self.assertLessEqual(len(line), 120, line)

    def table(self, name, columns, rows):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])

    def idx(self, name, dimensions, values):
        (self.folder / "data").mkdir(exist_ok=True)
        head = struct.pack(f">4B{len(dimensions)}I", 0, 0, 8, len(dimensions), *dimensions)
        (self.folder / "data" / name).write_bytes(head + bytes(values))

    def trained(self, template, *sets):
        """Its metrics in the test, once it is trained."""
        self.succeeds("init", template)
        self.table_of_run = self.succeeds("run", f"{template}.jsonc",
                                          *(word for each in sets for word in ("--set", each)))
        self.assertTrue((self.folder / f"runs/{template}/0001/exports/script.pt").exists())
        return json.loads(self.succeeds("eval", f"runs/{template}/0001", "--format", "json"))["metrics"]

    def predicted(self, template, file):
        out = self.succeeds("predict", f"runs/{template}/0001", "--input", file, "--format", "csv")
        return list(csv.DictReader(io.StringIO(out)))

    def test_templates_train_on_data_of_their_form_and_predict_for_new_rows(self):
        draw = random.Random(1)
        with self.subTest(template="classification"):
            kinds = list(KINDS) * 60
            rows = [[round(draw.gauss(mean, mean * 0.08), 3) for mean in KINDS[kind]] for kind in kinds]
            self.table("data.csv", ["species", "length", "width", "weight"], [[k, *row] for k, row in zip(kinds, rows)])
            self.table("fresh.csv", ["length", "width", "weight"], rows[:9])
            metrics = self.trained("classification", "vars.epochs=12", "vars.lr=0.01")
            self.assertGreater(metrics["test.acc"], 0.9)
            self.assertRegex(self.table_of_run, r"\n  test confusion macro_f1 +[01]\.")
            new = self.predicted("classification", "fresh.csv")
            self.assertEqual([row["species"] for row in new], kinds[:9])
            for row in new:
                shares = {kind: float(row[f"probability.{kind}"]) for kind in KINDS}
                self.assertAlmostEqual(sum(shares.values()), 1, places=4)
                self.assertEqual(max(shares, key=shares.get), row["species"])
        with self.subTest(template="regression"):
            rows = [[draw.randint(40, 200), draw.randint(1, 6), draw.randint(0, 80)] for _ in range(400)]
            prices = [100_000 + 2000 * area + 15_000 * rooms - 900 * age for area, rooms, age in rows]
            self.table("data.csv", ["area", "rooms", "age", "price"], [[*row, price] for row, price in zip(rows, prices)])
            self.table("fresh.csv", ["area", "rooms", "age"], rows[:5])
            metrics = self.trained("regression", "vars.epochs=20", "vars.lr=0.01")
            self.assertGreater(metrics["test.r2"], 0.9)
            self.assertGreater(metrics["test.err"], 10, "prices are compared, not scaled ones")
            self.assertRegex(self.table_of_run, r"\n  test mean_error mae +\d+(\.\d)?[ \n]", "and written out")
            for row, price in zip(self.predicted("regression", "fresh.csv"), prices[:5], strict=True):
                self.assertAlmostEqual(float(row["price"]), price, delta=0.2 * price)
        with self.subTest(template="image-classification"):
            # A stripe in one of the ten halves of five rows, on noise.
            labels = list(range(10)) * 30
            pixels = [200 if (y, x // 4) == (label // 2 + 1, label % 2) else draw.randrange(30)
                      for label in labels for y in range(8) for x in range(8)]
            for name, count in (("train", 300), ("t10k", 100)):
                self.idx(f"{name}-images-idx3-ubyte.gz", [count, 8, 8], pixels[: count * 64])
                self.idx(f"{name}-labels-idx1-ubyte.gz", [count], labels[:count])
            self.idx("fresh", [20, 8, 8], pixels[: 20 * 64])
            metrics = self.trained("image-classification", "vars.epochs=8", "vars.lr=0.01", "vars.shape=[1, 8, 8]",
                                   "nodes.shift.with.pixels=0", "nodes.train.with.batch=32")
            self.assertGreater(metrics["test.acc"], 0.7)
            new = self.predicted("image-classification", "data/fresh")
            self.assertGreater(sum(int(row["label"]) == label for row, label in zip(new, labels[:20], strict=True)), 13)
        with self.subTest(template="digits"):
            self.assertGreater(self.trained("digits", "vars.epochs=2")["test.acc"], 0.3)
            self.assertIn("seen,label", self.succeeds("predict", "runs/digits/0001", "--format", "csv"))
        with self.subTest(template="minimal"):
            self.succeeds("init", "minimal")
            self.assertIn("minimal is trained", self.succeeds("run", "minimal.jsonc"))

    def test_another_file_names_the_pipeline(self):
        for file, called in (("wine.jsonc", "wine"), ("..a b-c.jsonc", "ab-c"), ("ü.jsonc", "pipeline")):
            with self.subTest(file=file):
                self.assertEqual(self.tenon("init", "minimal", "--out", file).code, 0)
                self.assertIn(f'"name": "{called}"', (self.folder / file).read_text())
                self.assertEqual(self.tenon("check", file).code, 0)
        umask = os.umask(0)
        os.umask(umask)
        mode = stat.S_IMODE((self.folder / "wine.jsonc").stat().st_mode)
        self.assertEqual(mode, 0o666 & ~umask)

    def test_the_comments_speak_of_the_file_that_was_made(self):
        self.succeeds("init", "classification", "--out", "wine.jsonc")
        text = (self.folder / "wine.jsonc").read_text()
        self.assertNotIn("classification.jsonc", text)
        self.assertNotIn("runs/classification", text)
        for command in ("tenon check wine.jsonc ", "tenon run wine.jsonc ", "tenon predict runs/wine/0001 "):
            self.assertIn(f"//   {command}", text)
        for odd in ("two words.jsonc", "of\ntwo lines.jsonc"):
            self.succeeds("init", "regression", "--out", odd)
            self.succeeds("check", odd)
        self.assertIn("tenon run 'two words.jsonc' ", (self.folder / "two words.jsonc").read_text())

    def test_a_dash_prints_the_text(self):
        code, out, err = self.tenon("init", "digits", "--out", "-")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, (SOURCE / "sdk/templates/pipelines/digits.jsonc").read_text())
        self.assertEqual([path.name for path in self.folder.iterdir()], ["digits.json"])

    def test_a_file_that_is_there_stays(self):
        self.write("minimal.jsonc", "mine")
        (self.folder / "link.jsonc").symlink_to("nowhere")
        (self.folder / "folder.jsonc").mkdir()
        for arguments in ([], ["--out", "link.jsonc"], ["--out", "folder.jsonc"]):
            with self.subTest(arguments=arguments):
                code, out, err = self.tenon("init", "minimal", *arguments)
                self.assertEqual((code, out), (2, ""))
                self.assertIn("is there already and stays as it is", err)
        self.assertEqual((self.folder / "minimal.jsonc").read_text(), "mine")
        self.assertFalse((self.folder / "nowhere").exists())

    def test_what_cannot_be_made_is_told(self):
        for arguments, code, wanted in (
            (["digit"], 2, 'did you mean "digits"?'),
            (["xyzzy"], 2, "tenon init lists them"),
            ([""], 2, "there is no template"),
            (["digits", "--out", "x.json"], 2, "ends in .jsonc"),
            (["digits", "--out", ""], 2, "ends in .jsonc"),
            (["digits", "--out", ".jsonc"], 2, "ends in .jsonc"),
            (["--out", "x.jsonc"], 2, "--out goes with a TEMPLATE"),
            (["digits", "more"], 2, "one argument too many"),
            (["digits", "--out", "no/such/x.jsonc"], 10, "No such file or directory"),
            (["digits", "--out", "digits.json/x.jsonc"], 10, "Not a directory"),
            (["digits", "--out", "x" * 300 + ".jsonc"], 10, "too long"),
        ):
            with self.subTest(arguments=arguments):
                done = self.tenon("init", *arguments)
                self.assertEqual((done.code, done.out), (code, ""))
                self.assertIn(wanted, done.err)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["digits.json"])


if __name__ == "__main__":
    unittest.main()
