#!/usr/bin/env python3
"""Makes the data of the examples on images, tar shards, recordings, a large table and tokens. Needs numpy and Pillow.

  ./make_data.py                    # all of it into made/, beside this file: some 40 MB in seconds
  ./make_data.py shapes shards      # some of it
  ./make_data.py --out FOLDER --rows 20000

The same call makes the same files.
"""

import argparse
import io
import json
import math
import pathlib
import tarfile

import numpy as np
from PIL import Image, ImageDraw

CLASSES = ("cross", "disc", "ring")
PARTS = {"train": 480, "val": 60, "test": 60}  # pictures
SHARD = 64  # pictures
OVERSAMPLING = 4  # pixels drawn for one pixel shown


def cross(centre, radius, turn):
    """The outline of two bars across each other."""
    width = 0.28
    corner = [(width, width), (width, 1), (-width, 1), (-width, width)]
    points = [(x * math.cos(q) - y * math.sin(q), x * math.sin(q) + y * math.cos(q))
              for q in (turn + i * math.pi / 2 for i in range(4)) for x, y in corner]
    return [(centre[0] + radius * x, centre[1] + radius * y) for x, y in points]


def draw(random, kind, size):
    """A bright figure before a dark, noisy background, as uint8[H, W, 3], and where it is, as uint8[H, W] with 1 + its class."""
    height, width = size
    scale = OVERSAMPLING
    radius = random.uniform(0.2, 0.38) * min(size)
    centre = [random.uniform(radius, length - radius) * scale for length in (width, height)]
    shape = Image.new("L", (width * scale, height * scale), 0)
    pen = ImageDraw.Draw(shape)
    if kind == "cross":
        pen.polygon(cross(centre, radius * scale, random.uniform(0, math.pi / 2)), fill=255)
    else:
        for share, value in ((1, 255), (0.55, 0))[:1 if kind == "disc" else 2]:
            pen.ellipse([c + side * share * radius * scale for side in (-1, 1) for c in centre], fill=value)
    coverage = np.asarray(shape.resize((width, height), Image.Resampling.BOX), np.float64) / 255
    paint = random.uniform(130, 255, 3)
    ground = random.uniform(0, 90, 3)
    picture = ground + coverage[..., None] * (paint - ground) + random.normal(0, 18, (height, width, 3))
    mask = np.where(coverage >= 0.5, 1 + CLASSES.index(kind), 0).astype(np.uint8)
    return np.clip(picture, 0, 255).astype(np.uint8), mask


def pictures(part, seed):
    """Name, class, picture and mask of each sample of a part; sizes differ, classes take turns."""
    random = np.random.default_rng([seed, *part.encode()])
    for index in range(PARTS[part]):
        kind = CLASSES[index % len(CLASSES)]
        size = tuple(int(length) for length in random.integers(56, 97, 2))
        yield f"{index:04}", kind, *draw(random, kind, size)


def jpeg(picture):
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "JPEG", quality=92)
    return out.getvalue()


def make_shapes(out, _):
    """shapes/PART/CLASS/NUMBER.jpg"""
    for part in PARTS:
        for name, kind, picture, _mask in pictures(part, 1):
            file = out / "shapes" / part / kind / f"{name}.jpg"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(jpeg(picture))


def make_masks(out, _):
    """masks/PART/images/NUMBER.jpg and masks/PART/masks/NUMBER.png, whose pixels are classes, 0 the background"""
    for part in PARTS:
        for name, _kind, picture, mask in pictures(part, 2):
            for folder, suffix, data in (("images", "jpg", jpeg(picture)), ("masks", "png", None)):
                file = out / "masks" / part / folder / f"{name}.{suffix}"
                file.parent.mkdir(parents=True, exist_ok=True)
                if data is None:
                    Image.fromarray(mask).save(file)
                else:
                    file.write_bytes(data)


def make_shards(out, _):
    """shards/PART-NUMBER.tar in the form of WebDataset: NUMBER.jpg, NUMBER.cls, NUMBER.json"""
    folder = out / "shards"
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        samples = list(pictures(part, 3))
        for shard in range(0, len(samples), SHARD):
            with tarfile.open(folder / f"{part}-{shard // SHARD:03}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
                for name, kind, picture, _mask in samples[shard:shard + SHARD]:
                    files = {"jpg": jpeg(picture), "cls": str(CLASSES.index(kind)).encode(),
                             "json": json.dumps({"kind": kind}).encode()}
                    for suffix, data in files.items():
                        entry = tarfile.TarInfo(f"{name}.{suffix}")
                        entry.size = len(data)
                        tar.addfile(entry, io.BytesIO(data))


def make_recordings(out, _):
    """recordings/PART/NUMBER.npy, float32[T, 2]: a swinging pendulum's angle and speed, with noise, 50 times a second"""
    for part, count in {"train": 24, "val": 6, "test": 6}.items():
        random = np.random.default_rng([4, *part.encode()])
        folder = out / "recordings" / part
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            angle, speed = random.uniform(-1.2, 1.2), random.uniform(-1, 1)
            rows = np.empty((int(random.integers(300, 500)), 2), np.float32)
            for row in rows:
                speed += 0.02 * (-9.81 * math.sin(angle) - 0.2 * speed)
                angle += 0.02 * speed
                row[:] = angle, speed
            np.save(folder / f"{number:02}.npy", rows + random.normal(0, 0.01, rows.shape).astype(np.float32))


def make_table(out, rows):
    """measures.csv: eight measures and the yield that follows from them, two of them without any meaning"""
    random = np.random.default_rng(5)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "measures.csv").open("w", newline="\n") as file:
        file.write(",".join([f"m{i}" for i in range(8)]) + ",yield\n")
        for begin in range(0, rows, 10_000):
            x = random.normal(0, 1, (min(10_000, rows - begin), 8))
            y = 2 * x[:, 0] - x[:, 1] + 1.5 * x[:, 2] * x[:, 3] + np.sin(2 * x[:, 4]) + 0.5 * np.abs(x[:, 5])
            y += random.normal(0, 0.1, len(x))
            np.savetxt(file, np.column_stack([x, y]), fmt="%.5f", delimiter=",")


def make_tokens(out, _):
    """tokens.bin, uint16: sentences of a small grammar, 400,000 words of 24"""
    random = np.random.default_rng(6)
    out.mkdir(parents=True, exist_ok=True)
    # Subject, verb, object, full stop: 7 words each, 0 to 20; 21 is the full stop; 22 and 23 lead to questions.
    sentences = np.stack([random.integers(0, 7, 100_000), 7 + random.integers(0, 7, 100_000),
                          14 + random.integers(0, 7, 100_000), np.full(100_000, 21)], axis=1)
    questions = random.uniform(size=100_000) < 0.1
    sentences[questions, 3] = 22 + random.integers(0, 2, int(questions.sum()))
    sentences.astype("<u2").tofile(out / "tokens.bin")


KINDS = {"shapes": make_shapes, "masks": make_masks, "shards": make_shards, "recordings": make_recordings,
         "table": make_table, "tokens": make_tokens}


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("kind", nargs="*", choices=[[], *KINDS], help="what to make; without it, everything")
    words.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "made")
    words.add_argument("--rows", type=int, default=400_000, help="of the table")
    given = words.parse_args()
    for kind in given.kind or KINDS:
        KINDS[kind](given.out, given.rows)
        print(f"made {kind} in {given.out}")


if __name__ == "__main__":
    main()
