"""`tenon data show`: the very samples of training on a sheet, or as text."""

import io
import json
import subprocess
import sys
import time
import unittest

import numpy
from program import BUILD, PROGRAM, ProgramTest

try:
    from PIL import Image
except ImportError:
    Image = None


FAULTY = ["--plugin-path", str(BUILD / "tests" / "plugins" / "tenon_faulty.so")]


class DataShowTest(ProgramTest):
    def png(self, *arguments):
        outcome = self.tenon("data", "show", *arguments, "--out", "sheet.png")
        self.assertEqual(outcome.code, 0, outcome.err)
        return (self.folder / "sheet.png").read_bytes()

    def test_a_sheet_is_a_png_with_a_tile_for_each_sample(self):
        if Image is None:
            self.skipTest("this Python has no Pillow")
        sizes = []
        for count in (4, 16):
            image = Image.open(io.BytesIO(self.png("digits.json", "--count", str(count))))
            image.load()
            self.assertEqual((image.format, image.mode), ("PNG", "RGB"))
            sizes.append(image.size)
        self.assertGreater(sizes[1][0], sizes[0][0])

    def test_a_name_of_another_format_is_refused_and_a_place_that_cannot_be_written_is_that_of_out(self):
        for name, mended in (("sheet.jpg", "sheet.png"), ("Sheet.JPEG", "Sheet.png")):
            code, out, err = self.tenon("data", "show", "digits.json", "--out", name)
            self.assertEqual((code, out), (2, ""), err)
            self.assertIn(f"--out {name}: the picture is a PNG; name it {mended}", err)
            self.assertFalse((self.folder / name).exists())
        code, _, err = self.tenon("data", "show", "digits.json", "--out", "")
        self.assertEqual(code, 2, err)
        self.assertIn("--out needs the name of a file, or -", err)
        code, _, err = self.tenon("data", "show", "digits.json", "--out", "/sys/sheet.png")  # nobody may write there
        self.assertEqual(code, 10, err)
        self.assertIn("with --out", err)

    def test_pixels_are_those_of_the_dataset(self):
        if Image is None:
            self.skipTest("this Python has no Pillow")
        random = numpy.random.default_rng(1)
        pixels = random.integers(0, 256, (3, 6, 5, 3), numpy.uint8)
        numpy.save(self.folder / "image.npy", pixels)
        numpy.save(self.folder / "label.npy", numpy.arange(3))
        self.write("pipe.json", json.dumps({
            "format": 1, "name": "seen", "run": {"seed": 1, "device": "cpu"},
            "nodes": {"set": {"use": "dataset:npy", "with": {"fields": [
                {"name": "image", "path": "image.npy", "dtype": "uint8", "shape": [6, 5, 3]},
                {"name": "label", "path": "label.npy", "dtype": "int64", "shape": []}]}},
                "scaled": {"use": "transform:to_float", "in": "set"},
                "train": {"use": "loader:threads", "in": "scaled", "with": {"batch": 2}},
                "net": {"use": "model:mlp", "in": {"image": "batch.image"},
                        "with": {"classes": 3, "hidden": [4]}},
                "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}},
                "opt": {"use": "optimizer:sgd", "of": "net"}},
            "fit": {"data": "train", "loss": "loss", "epochs": 1}}))
        sheet = numpy.asarray(Image.open(io.BytesIO(self.png("pipe.json"))))
        for image in pixels:  # enlarged by a whole factor: each of its rows lies in a row of the sheet, pixel by pixel
            seen = set()
            for row in sheet[(sheet == image[0, 0]).all(axis=2).any(axis=1)]:
                new = numpy.append(True, (row[1:] != row[:-1]).any(axis=1))
                seen.add(row[new].tobytes())
            self.assertTrue(any(image[0].tobytes() in pixels_of_row for pixels_of_row in seen))

    def test_the_same_call_draws_the_same_and_epoch_and_seed_change_it(self):
        first = self.png("digits.json")
        self.assertEqual(self.png("digits.json"), first)
        self.assertEqual(self.png("digits.json", "--epoch", "0"), first)
        self.assertNotEqual(self.png("digits.json", "--epoch", "1"), first)
        self.assertNotEqual(self.png("digits.json", "--seed", "8"), first)
        self.assertEqual(self.png("digits.json", "--seed", "8"), self.png("digits.json", "--set", "run.seed=8"))
        self.assertNotEqual(self.png("digits.json", "--on", "validate"), first)

    def test_without_out_the_file_is_named_after_pipeline_and_part_and_minus_is_standard_output(self):
        outcome = self.tenon("data", "show", "digits.json", "--count", "4")
        self.assertEqual((outcome.code, outcome.out), (0, 'digits-train.png: 4 samples of "train_set"\n'))
        with open(self.folder / "piped.png", "wb") as file:
            words = ["data", "show", "digits.json", "--count", "4", "--out", "-"]
            self.assertEqual(self.tenon(*words, stdout=file).code, 0)
        self.assertEqual((self.folder / "piped.png").read_bytes(), (self.folder / "digits-train.png").read_bytes())

    def test_a_picture_is_not_written_to_a_terminal(self):
        outcome = self.tenon_on_terminal("data", "show", "digits.json", "--out", "-", "--color=never", columns=120)
        self.assertEqual(outcome.code, 2)
        self.assertIn("would write a picture to the terminal", outcome.out)

    def rows(self, change=None):
        self.write("table.csv", "a,b,price,town,kind\n1,2,100,Ulm,oak\n3,4,300,Bern,ash\n5,6,200,Köln,oak\n")
        nodes = {"set": {"use": "dataset:csv", "with": {"path": "table.csv", "fields": [
                     {"name": "x", "columns": ["a", "b"]}, {"name": "price", "columns": ["price"]},
                     {"name": "town", "type": "text"}, {"name": "kind", "type": "text"}]}},
                 "kinds": {"use": "transform:encode_categories", "in": "set", "with": {"fields": ["kind"]}},
                 "scaled": {"use": "transform:standardize", "in": "kinds", "with": {"fields": ["price"]}},
                 "train": {"use": "loader:threads", "in": "scaled", "with": {"batch": 3}},
                 "net": {"use": "model:mlp", "in": {"x": "batch.x"},
                         "with": {"input": "x", "output": "value", "size": 1, "hidden": [2]}},
                 "loss": {"use": "loss:mse", "in": {"prediction": "net.value", "target": "batch.price"}},
                 "opt": {"use": "optimizer:sgd", "of": "net"}}
        pipeline = {"format": 1, "name": "rows", "run": {"seed": 1, "device": "cpu"}, "nodes": nodes,
                    "fit": {"data": "train", "loss": "loss", "epochs": 1}}
        return self.write("rows.json", json.dumps(pipeline))

    def test_samples_without_an_image_are_listed_with_scales_undone_and_texts_as_texts(self):
        code, out, err = self.tenon("data", "show", self.rows())
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([line.split() for line in out.splitlines()],
                         [["sample", "x", "price", "town", "kind"], ["0", "1", "2", "100", "Ulm", "oak"],
                          ["1", "3", "4", "300", "Bern", "ash"], ["2", "5", "6", "200", "Köln", "oak"]])
        code, out, err = self.tenon("data", "show", "rows.json", "--out", "rows.png")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("no field of the samples is an image", err)
        self.assertFalse((self.folder / "rows.png").exists())

    def test_a_note_names_transforms_of_batches_that_are_left_out(self):
        self.write("mixed.json", json.dumps(
            {"nodes": {"mixed": {"use": "transform:batch_mixup", "in": "train", "with": {"classes": 10}},
                       "loss": {"use": "loss:soft_cross_entropy"}}, "fit": {"data": "mixed"}}))
        outcome = self.tenon("data", "show", "digits.json", "--overlay", "mixed.json", "--count", "4", "--out", "a.png")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn('what "mixed" does to batches behind it is left out', outcome.err)
        self.assertEqual(self.tenon("data", "show", "digits.json", "--count", "4", "--out", "a.png").err, "")

    def test_a_sample_that_hangs_is_named_and_ends_with_4(self):
        stalling = json.dumps({"use": "dataset:stalling", "with": {"after": 3, "milliseconds": 60000}})
        begin = time.monotonic()
        outcome = self.tenon("data", "show", "digits.json", "--set", f"nodes.train_set={stalling}", "--set",
                             "nodes.train.with.shuffle=false", "--set", 'nodes.train.with.sample_timeout="300 ms"',
                             *FAULTY)
        self.assertEqual(outcome.code, 4, outcome.err)
        self.assertRegex(outcome.err, r'"train_set" \(dataset:stalling\), sample \d+ of "train_set": it has been under')
        self.assertLess(time.monotonic() - begin, 30)

    def test_memory_does_not_grow_with_the_number_of_large_images(self):
        numpy.save(self.folder / "image.npy", numpy.zeros((1, 1200, 1600, 3), numpy.uint8))
        numpy.save(self.folder / "label.npy", numpy.zeros(1, numpy.int64))
        self.write("large.json", json.dumps({
            "format": 1, "name": "large", "run": {"seed": 1, "device": "cpu"},
            "nodes": {"one": {"use": "dataset:npy", "with": {"fields": [
                {"name": "image", "path": "image.npy", "dtype": "uint8", "shape": [1200, 1600, 3]},
                {"name": "label", "path": "label.npy", "dtype": "int64", "shape": []}]}},
                "set": {"use": "dataset:repeat", "in": "one", "with": {"times": 200}},
                "scaled": {"use": "transform:to_float", "in": "set"},
                "train": {"use": "loader:threads", "in": "scaled", "with": {"batch": 2, "memory": "100 MB"}},
                "net": {"use": "model:mlp", "in": {"image": "batch.image"},
                        "with": {"classes": 3, "hidden": [4]}},
                "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}},
                "opt": {"use": "optimizer:sgd", "of": "net"}},
            "fit": {"data": "train", "loss": "loss", "epochs": 1}}))
        peaks = []
        for count in (4, 60):  # 23 MB a sample
            report = self.folder / "status.txt"
            code = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[2:]);"
                    "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))")
            subprocess.run([sys.executable, "-c", code, report, PROGRAM, "data", "show", "large.json", "--count",
                            str(count), "--out", "a.png"], cwd=self.folder, env=self.environment(), check=True,
                           stdout=subprocess.DEVNULL)
            peaks.append(int(report.read_text()) / 1024)
        self.assertTrue((self.folder / "a.png").exists())
        self.assertLess(peaks[1] - peaks[0], 300, f"MB: {peaks}")

    def test_mistakes_have_their_codes(self):
        for words, part in ((["--count", "0"], "--count takes"), (["--epoch", "-1"], "--epoch takes"),
                            (["--on", "nowhere"], 'no data for "nowhere"')):
            outcome = self.tenon("data", "show", "digits.json", *words)
            self.assertEqual((outcome.code, outcome.out), (2, ""), outcome.err)
            self.assertIn(part, outcome.err)
        outcome = self.tenon("data", "show", "digits.json", "--out", "no/such/folder/a.png")
        self.assertEqual(outcome.code, 10, outcome.err)

    def test_the_program_and_the_engine_do_not_link_opencv(self):
        for file, links in (("bin/tenon", False), ("lib/libtenon_core.so.1", False),
                            ("lib/libtenon_engine.so.1", False), ("lib/libtenon_sheet.so.1", True)):
            done = subprocess.run(["readelf", "-d", BUILD / file], capture_output=True, text=True, check=True)
            self.assertEqual("opencv" in done.stdout, links, file)


if __name__ == "__main__":
    unittest.main()
