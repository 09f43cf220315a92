#!/usr/bin/env python3
"""Makes digits.inc from the digits.csv.gz that PyPI's scikit-learn carries (sklearn/datasets/data/).

  pip download --no-deps scikit-learn && ./make_digits.py scikit_learn-*.whl > digits.inc

One image a line: 64 pixels, row by row, each a digit of base 17 (0..9, A..G), then the label.
"""

import csv
import gzip
import io
import sys
import zipfile

SYMBOLS = "0123456789ABCDEFG"


def main() -> None:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        text = gzip.decompress(wheel.read("sklearn/datasets/data/digits.csv.gz")).decode()
    for row in csv.reader(io.StringIO(text)):
        *pixels, label = (int(value) for value in row)
        if len(pixels) != 64 or label not in range(10):
            sys.exit(f"unexpected row: {row}")
        print('"' + "".join(SYMBOLS[pixel] for pixel in pixels) + str(label) + '",')


if __name__ == "__main__":
    main()
