#!/usr/bin/env python3
"""Takes penguins.csv from PyPI's palmerpenguins, as it is but for the end of its lines.

  pip download --no-deps palmerpenguins && ./make_penguins.py palmerpenguins-*.whl
"""

import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def main() -> None:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        text = wheel.read("palmerpenguins/data/penguins.csv").decode()
    rows = text.splitlines()
    if len(rows) != 345 or not rows[0].startswith("species,island,"):
        sys.exit(f"not the table of 344 penguins: {len(rows)} lines, the first one {rows[0]}")
    (HERE / "penguins.csv").write_text("\n".join(rows) + "\n", newline="\n")


if __name__ == "__main__":
    main()
