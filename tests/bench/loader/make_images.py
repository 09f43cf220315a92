"""make_images.py PACKAGES FOLDER COUNT: JPEGs as a camera makes them, cut from photographs that two packages ship.

FOLDER/train: COUNT files of 500 x 375 or 375 x 500 pixels, quality 92, some 60 KB each, in two classes.
FOLDER/landscape: the first 64 that are 500 x 375, for the comparison of pixels. FOLDER/cifar: batches in CIFAR-10's
binary format, of the same photographs. FOLDER/train-N.tar: the files of train in four shards of WebDataset's format,
FOLDER/landscape.tar those of landscape; the class of a file there is its number.
"""

import contextlib
import io
import pathlib
import random
import sys
import tarfile

import numpy as np
from PIL import Image

PHOTOGRAPHS = ["skimage/data/astronaut.png", "skimage/data/chelsea.png", "skimage/data/coffee.png",
               "sklearn/datasets/images/china.jpg", "sklearn/datasets/images/flower.jpg", "skimage/data/rocket.jpg",
               "skimage/data/motorcycle_left.png", "skimage/data/ihc.png", "skimage/data/retina.jpg",
               "skimage/data/hubble_deep_field.jpg"]
CIFAR_IMAGES = 10000
SHARDS = 4


def cut(photograph, draw, index):
    width, height = photograph.size
    scale, ratio = draw.uniform(0.6, 1.0), 4 / 3 if draw.random() < 0.8 else 3 / 4
    part_height = int(min(height, width / ratio) * scale)
    part_width = int(part_height * ratio)
    top, left = draw.randint(0, height - part_height), draw.randint(0, width - part_width)
    size = (500, 375) if ratio > 1 else (375, 500)
    part = photograph.crop((left, top, left + part_width, top + part_height)).resize(size, Image.Resampling.BICUBIC)
    grain = np.random.default_rng(index).normal(0, 4, (size[1], size[0], 3))
    return Image.fromarray(np.clip(np.asarray(part).astype(np.int16) + grain, 0, 255).astype(np.uint8))


def add_sample(archive, index, image):
    for name, content in ((f"{index:05d}.jpg", image), (f"{index:05d}.cls", str(index).encode())):
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))


def main(packages, folder, count):
    draw = random.Random(0)
    photographs = [Image.open(packages / name).convert("RGB") for name in PHOTOGRAPHS]
    for name in ("train/0", "train/1", "landscape/0", "cifar"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    small = []
    landscape = 0
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(tarfile.open(folder / f"train-{shard}.tar", "w")) for shard in range(SHARDS)]
        wide = stack.enter_context(tarfile.open(folder / "landscape.tar", "w"))
        for index in range(count):
            archive = opened[index * SHARDS // count]
            image = cut(photographs[index % len(photographs)], draw, index)
            encoded = io.BytesIO()
            image.save(encoded, "JPEG", quality=92)
            # The number of the file is its place when files are sorted by class and name.
            of_class = index * 2 // count
            (folder / f"train/{of_class}/{index:05d}.jpg").write_bytes(encoded.getvalue())
            add_sample(archive, index, encoded.getvalue())
            if image.size == (500, 375) and landscape < 64:
                add_sample(wide, landscape, encoded.getvalue())
                (folder / f"landscape/0/{index:05d}.jpg").write_bytes(encoded.getvalue())
                landscape += 1
            small.append(np.asarray(image.resize((32, 32), Image.Resampling.BOX)).transpose(2, 0, 1).tobytes())
    with open(folder / "cifar" / "test_batch.bin", "wb") as file:
        for index in range(CIFAR_IMAGES):
            file.write(bytes([index % 10]) + small[index % count])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))
