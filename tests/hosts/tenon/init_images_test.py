"""The templates of `tenon init` for images: from folders to a model that was tested and exported, and to predictions."""

import csv
import io
import json
import pathlib
import random
import unittest

import numpy
from program import ProgramTest

KINDS = ["across", "noise", "upright"]


class InitImagesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(1)

    def image(self, name, height, width, value_of):
        """Writes value_of(y, x, channel) for each pixel as PPM, or as PGM of one channel by its name."""
        channels = 3 if name.endswith(".ppm") else 1
        values = [value_of(y, x, channel) for y in range(height) for x in range(width) for channel in range(channels)]
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(f"P{6 if channels == 3 else 5} {width} {height} 255\n".encode() + bytes(values))

    def stripes(self, name, kind):
        """Stripes that lie or stand, or noise alone; sizes differ."""
        bright = {"across": lambda y, x: y // 6 % 2, "upright": lambda y, x: x // 6 % 2,
                  "noise": lambda y, x: self.draw.randrange(2)}[kind]
        self.image(name, self.draw.randint(26, 40), self.draw.randint(26, 40),
                   lambda y, x, _: 160 * bright(y, x) + self.draw.randrange(60))

    def square(self, name):
        """A bright square somewhere on dark noise, and its mask."""
        height, width, side = self.draw.randint(26, 40), self.draw.randint(26, 40), self.draw.randint(12, 18)
        top, left = self.draw.randrange(height - side), self.draw.randrange(width - side)

        def inside(y, x):
            return top <= y < top + side and left <= x < left + side

        self.image(f"photos/{name}.ppm", height, width, lambda y, x, _: 150 * inside(y, x) + self.draw.randrange(80))
        self.image(f"masks/{name}.pgm", height, width, lambda y, x, _: inside(y, x))

    def trained(self, template, *sets):
        """The metrics of its test; its data are found sound before, and shown."""
        self.succeeds("init", template)
        words = [f"{template}.jsonc", *(word for each in sets for word in ("--set", each))]
        report = json.loads(self.succeeds("data", "check", *words, "--format", "json"))
        self.assertEqual([each for each in report["findings"] if each["severity"] != "note"], [])
        self.succeeds("data", "show", *words, "--out", "sheet.png")
        self.assertEqual((self.folder / "sheet.png").read_bytes()[:4], b"\x89PNG")
        self.succeeds("run", *words)
        self.assertTrue((self.folder / f"runs/{template}/0001/exports/script.pt").exists())
        return json.loads(self.succeeds("eval", f"runs/{template}/0001", "--format", "json"))["metrics"]

    def test_images_in_folders_are_told_apart_and_new_ones_named(self):
        for number in range(150):
            self.stripes(f"photos/{KINDS[number % 3]}/{number:03}.ppm", KINDS[number % 3])
        for number in range(12):
            self.stripes(f"fresh/{number:02}.ppm", KINDS[number % 3])
        (self.folder / "fresh/broken.ppm").write_bytes(b"P6 9")
        metrics = self.trained("image-folder", "vars.epochs=8", "vars.lr=0.01", "vars.classes=3", "vars.side=16",
                               "nodes.small.with.size=24", "nodes.net.with.width=8", "nodes.train.with.batch=8",
                               "nodes.part.with.scale=[0.8, 1]")
        self.assertGreater(metrics["test.acc"], 0.8)
        (self.folder / "photos/noise/cut.ppm").write_bytes((self.folder / "photos/noise/001.ppm").read_bytes()[:500])
        told = self.tenon("data", "check", "image-folder.jsonc", "--set", "vars.classes=3")
        self.assertEqual(told.code, 4, told.err)
        self.assertIn("photos/noise/cut.ppm", told.out)
        made = self.tenon("predict", "runs/image-folder/0001", "--input", "fresh", "--format", "csv")
        self.assertEqual(made.code, 0, made.err)
        self.assertIn("broken.ppm", made.err)
        new = list(csv.DictReader(io.StringIO(made.out)))
        self.assertEqual([pathlib.Path(row["item"]).name for row in new], [f"{number:02}.ppm" for number in range(12)])
        self.assertGreater(sum(row["label"] == KINDS[number % 3] for number, row in enumerate(new)), 9)
        self.assertEqual([name for name in new[0] if "." in name], [f"probability.{kind}" for kind in KINDS])

    def test_pixels_of_images_get_classes_from_masks(self):
        for number in range(60):
            self.square(f"{number:02}")
        for number in range(4):  # of these the masks are not shown
            for folder, ending in (("photos", "ppm"), ("masks", "pgm")):
                (self.folder / f"new-{folder}").mkdir(exist_ok=True)
                (self.folder / folder / f"{number:02}.{ending}").rename(self.folder / f"new-{folder}/{number:02}.{ending}")
        metrics = self.trained("segmentation", "vars.epochs=10", "vars.lr=0.01", "vars.side=16",
                               "nodes.small.with.size=24", "nodes.train.with.batch=8",
                               'nodes.net.with={"classes": 2, "width": 8, "depth": 1}')
        self.assertGreater(metrics["test.iou"], 0.8)
        self.succeeds("predict", "runs/segmentation/0001", "--format", "npy", "--out", "predicted")
        masks = numpy.load(self.folder / "predicted/masks.npy")
        items = json.loads((self.folder / "predicted/items.json").read_text())
        self.assertEqual([pathlib.Path(item).name for item in items], [f"{number:02}.ppm" for number in range(4)])
        for mask, item in zip(masks, items, strict=True):
            head, _, data = (self.folder / f"new-masks/{pathlib.Path(item).stem}.pgm").read_bytes().partition(b" 255\n")
            width, height = (int(word) for word in head.split()[1:])
            true = numpy.frombuffer(data, numpy.uint8).reshape(height, width)
            rows, columns = (numpy.arange(16) * side // 16 for side in true.shape)
            self.assertGreater((mask == true[rows][:, columns]).mean(), 0.8, item)


if __name__ == "__main__":
    unittest.main()
