#!/usr/bin/env python3
"""Writes Tenon's embedded digits (plugins/datasets/digits/digits.inc) as files of MNIST's format, packed by gzip.

  ./make_digits_idx.py        # from the source tree; needs nothing but Python

Every fifth image from the first on becomes the test files (360), the rest the training files (1,437). A packed file
holds neither a name nor a time: made again with the same zlib, it has the same bytes.
"""

import gzip
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
DIGITS = HERE.parents[2] / "plugins" / "datasets" / "digits" / "digits.inc"
UINT8 = 8  # idx's code of the type


def idx(shape: tuple[int, ...], values: bytes) -> bytes:
    return bytes([0, 0, UINT8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + values


def write(name: str, content: bytes) -> None:
    (HERE / name).write_bytes(gzip.compress(content, compresslevel=9, mtime=0))


def main() -> None:
    lines = [line.strip('",') for line in DIGITS.read_text().split()]
    parts = {"train": [], "test": []}
    for position, line in enumerate(lines):
        parts["test" if position % 5 == 0 else "train"].append(line)
    for part, rows in parts.items():
        pixels = bytes(int(symbol, 17) for row in rows for symbol in row[:64])
        write(f"digits-{part}-images-idx3-ubyte.gz", idx((len(rows), 8, 8), pixels))
        write(f"digits-{part}-labels-idx1-ubyte.gz", idx((len(rows),), bytes(int(row[64]) for row in rows)))


if __name__ == "__main__":
    main()
