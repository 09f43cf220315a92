"""The examples on data that a script makes: trained to the stated result, the same bytes for any number of loader threads
and over an interruption, checked and shown."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
SDK = pathlib.Path(os.environ["TENON_SOURCE_DIR"]) / "sdk"
EXAMPLES = SDK / "examples"
PROGRAM = BUILD / "bin" / "tenon"
TIME_LIMIT = 300  # seconds: far more than anything here takes

# What the first comment of each file states; what data it needs; what makes a proof of it short.
STATED = {
    "image-folder": {"test.acc": 0.9},
    "segmentation": {"test.iou": 0.6},
    "tar-shards": {"test.acc": 0.9},
    "windows": {"test.r2": 0.98},
    "large-table": {"test.r2": 0.9},
    "tokens": {"validate.acc": 0.3},
}
SHORT = {
    "image-folder": ["vars.epochs=1"],
    "segmentation": ["vars.epochs=1"],
    "tar-shards": ["vars.epochs=1"],
    "windows": ["vars.epochs=1"],
    "large-table": ["nodes.train.with.batch=2048"],
    "tokens": ["fit.epochs=1"],
}


class DataExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import PIL  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("Python has no Pillow") from None
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        shutil.copytree(EXAMPLES / "pipelines", cls.folder / "pipelines")
        (cls.folder / "data").mkdir()
        shutil.copy(EXAMPLES / "data" / "make_data.py", cls.folder / "data")
        cls.run_program([sys.executable, cls.folder / "data" / "make_data.py", "--rows", "60000"])

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_program(cls, arguments):
        done = subprocess.run(arguments, cwd=cls.folder, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return done

    def tenon(self, command, name, *arguments):
        return self.run_program([PROGRAM, *command.split(), self.folder / "pipelines" / f"{name}.jsonc", *arguments])

    def short(self, name):
        return [word for each in SHORT[name] for word in ("--set", each)]

    def test_each_states_its_result_and_reaches_it(self):
        for name, bounds in STATED.items():
            with self.subTest(name):
                text = (self.folder / "pipelines" / f"{name}.jsonc").read_text()
                stated = " ".join(re.findall("^// (.*)$", text, re.MULTILINE)).partition("Stated result:")[2]
                self.tenon("run", name, "--quiet", "--outcome", "outcome.json")
                outcome = json.loads((self.folder / "outcome.json").read_text())
                values = outcome["validation"] | outcome["test"]
                for key, bound in bounds.items():
                    self.assertRegex(stated, rf"\b{re.escape(str(bound))}\b", f"{name}: {key}")
                    print(f"figure: {name} {key} {values[key]:.4f}, stated {bound}", flush=True)
                    self.assertGreaterEqual(values[key], bound, f"{name}: {key}")
                exports = pathlib.Path(outcome["directory"]) / "exports"
                self.assertEqual({path.name for path in exports.iterdir()}, {"script.pt", "script.pt.report.json"})
                PREDICTED[name](self, outcome)

    def predict(self, outcome, *arguments):
        """Without the training data, which a prediction does not need."""
        made = self.folder / "data" / "made"
        hidden = [(path, path.with_name("hidden")) for path in made.glob("*/train")]
        for path, place in hidden:
            path.rename(place)
        try:
            return self.run_program([PROGRAM, "predict", outcome.get("tested_checkpoint") or outcome["directory"], *arguments]).stdout
        finally:
            for path, place in hidden:
                place.rename(path)

    def figures_have_their_names_and_files(self, outcome):
        rows = [json.loads(line) for line in self.predict(outcome).splitlines()]
        right = [pathlib.Path(row["item"]).parent.name == row["figure"] for row in rows]
        self.assertAlmostEqual(sum(right) / len(right), outcome["test"]["test.acc"], places=6)
        self.assertEqual({tuple(row["probability"]) for row in rows}, {("cross", "disc", "ring")})
        table = self.predict(outcome, "--format", "csv").splitlines()
        self.assertEqual(table[0], "index,item,figure,probability.cross,probability.disc,probability.ring")
        self.assertEqual(table[1].split(",")[:3], ["0", rows[0]["item"], rows[0]["figure"]])

    def pixels_have_classes(self, outcome):
        import numpy
        from PIL import Image
        self.predict(outcome, "--format", "npy", "--out", "predicted")
        masks = numpy.load(self.folder / "predicted" / "masks.npy")
        items = json.loads((self.folder / "predicted" / "items.json").read_text())
        self.assertEqual(masks.shape, (len(items), 48, 48))
        counts = numpy.zeros((4, 4))
        for mask, item in zip(masks, items):
            file = pathlib.Path(item)
            true = Image.open(file.parents[1] / "masks" / (file.stem + ".png")).resize((48, 48), Image.Resampling.NEAREST)
            counts += numpy.histogram2d(mask.ravel(), numpy.asarray(true).ravel(), bins=range(5))[0]
        union = counts.sum(0) + counts.sum(1) - counts.diagonal()
        self.assertAlmostEqual((counts.diagonal() / union).mean(), outcome["test"]["test.iou"], delta=0.02)

    def shards_have_classes(self, outcome):
        rows = [json.loads(line) for line in self.predict(outcome).splitlines()]
        right = [row["index"] % 3 == row["label"] for row in rows]  # classes take turns
        self.assertRegex(rows[-1]["item"], r"/test-000\.tar, byte \d+$")
        self.assertAlmostEqual(sum(right) / len(right), outcome["test"]["test.acc"], places=6)
        alone = self.predict(outcome, "--input", "data/made/shards/test-000.tar")
        self.assertEqual([json.loads(line) for line in alone.splitlines()], rows)

    def rows_have_yields(self, outcome):
        import numpy
        made = numpy.loadtxt(self.folder / "data" / "made" / "measures.csv", delimiter=",", skiprows=1, max_rows=500)
        text = [",".join(f"m{i}" for i in range(8)), *(",".join(f"{each:.5f}" for each in row[:8]) for row in made)]
        (self.folder / "new.csv").write_text("\n".join([*text, ""]))
        table = self.predict(outcome, "--input", "new.csv", "--format", "csv").splitlines()
        self.assertEqual(table[0], "index,yield")
        predicted = numpy.array([float(line.split(",")[1]) for line in table[1:]])
        self.assertGreater(1 - ((predicted - made[:, 8]) ** 2).mean() / made[:, 8].var(), 0.9)

    def windows_have_what_comes(self, outcome):
        import numpy
        table = self.predict(outcome, "--input", "data/made/recordings/val", "--format", "csv").splitlines()
        self.assertEqual(table[0], "index,ahead.0,ahead.1")
        predicted = iter([[float(each) for each in line.split(",")[1:]] for line in table[1:]])
        known, true = [], []
        for file in sorted((self.folder / "data" / "made" / "recordings" / "val").glob("*.npy")):
            steps = numpy.load(file)
            for begin in range(0, len(steps) - 32 + 1, 4):
                ahead = next(predicted)
                if begin + 32 + 5 <= len(steps):  # the last windows of a recording have nothing behind them
                    known.append(ahead)
                    true.append(steps[begin + 32 + 4])
        self.assertIsNone(next(predicted, None))
        errors, true = numpy.array(known) - numpy.array(true), numpy.array(true)
        self.assertGreater((1 - (errors**2).mean(0) / true.var(0)).mean(), 0.98)

    def tokens_have_the_next_ones(self, outcome):
        import numpy
        words = numpy.fromfile(self.folder / "data" / "made" / "tokens.bin", "<u2")[: 20 * 64 + 1]
        words.tofile(self.folder / "few.bin")
        rows = [json.loads(line)["next"] for line in self.predict(outcome, "--input", "few.bin").splitlines()]
        right = numpy.array(rows).ravel() == words[1:]
        self.assertEqual(len(right), 20 * 64)
        self.assertGreater(right.mean(), 0.25)

    def test_any_number_of_loader_threads_gives_the_same_bytes(self):
        for name in STATED:
            with self.subTest(name):
                self.tenon("verify repro", name, *self.short(name))

    def test_a_run_that_was_interrupted_gives_the_bytes_of_one_that_was_not(self):
        for name in STATED:
            with self.subTest(name):
                self.tenon("verify resume", name, "--at", "3,end", *self.short(name))

    def test_the_data_of_each_are_found_sound_and_shown(self):
        for name in STATED:
            with self.subTest(name):
                self.tenon("data check", name)
                shown = self.tenon("data show", name, *self.picture(name))
                if self.picture(name):
                    self.assertEqual((self.folder / f"{name}.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
                else:
                    self.assertTrue(shown.stdout.strip())

    def test_the_page_about_data_leads_from_files_to_predictions(self):
        text = (SDK / "docs" / "data.md").read_text()
        section = text[text.index("## Where to begin") :]
        section = section[: section.index("\n## ", 3)]
        made = self.folder / "data" / "made"
        for kind in ("disc", "ring"):  # two classes of few images, and new ones in a folder of their own
            (self.folder / "photos" / kind).mkdir(parents=True)
            for file in sorted((made / "shapes" / "train" / kind).iterdir())[:50]:
                shutil.copy(file, self.folder / "photos" / kind)
        shutil.copytree(made / "shapes" / "val" / "disc", self.folder / "new-photos")
        (self.folder / "new-photos" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0")
        done = []
        for line in re.findall(r"^    ((?:tenon|python3) .+)$", section, re.MULTILINE):
            program, *words = shlex.split(line, comments=True)
            short = ["--quiet", "--set", "vars.epochs=4"] if words[0] == "run" else []
            told = self.run_program([PROGRAM if program == "tenon" else sys.executable, *words, *short])
            done.append((words[0], told))
        self.assertEqual([name for name, _ in done], ["init", "check", "data", "data", "run", "predict", "data/make_data.py",
                                                      "check", "data", "data", "run", "predict"])
        for name, told in done:
            self.assertNotIn("warning", told.stderr, name)
        for picture in ("animals.png", "shards.png"):
            self.assertEqual((self.folder / picture).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        for name in ("animals", "tar-shards"):
            self.assertTrue((self.folder / "runs" / name / "0001" / "exports" / "script.pt").exists(), name)
        table = (self.folder / "classes.csv").read_text().splitlines()
        self.assertEqual(table[0], "index,item,label,probability.disc,probability.ring")
        self.assertEqual(len(table), 1 + 20)
        self.assertLessEqual({line.split(",")[2] for line in table[1:]}, {"disc", "ring"})
        self.assertIn("broken.jpg", done[5][1].stderr)
        self.assertEqual(len(done[-1][1].stdout.splitlines()), 60)

    def picture(self, name):
        return ["--out", f"{name}.png"] if name in ("image-folder", "segmentation", "tar-shards") else []


PREDICTED = {
    "image-folder": DataExamples.figures_have_their_names_and_files,
    "segmentation": DataExamples.pixels_have_classes,
    "tar-shards": DataExamples.shards_have_classes,
    "windows": DataExamples.windows_have_what_comes,
    "large-table": DataExamples.rows_have_yields,
    "tokens": DataExamples.tokens_have_the_next_ones,
}

if __name__ == "__main__":
    unittest.main()
