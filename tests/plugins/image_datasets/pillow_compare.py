"""What the tests beside Pillow share: the tool that reads datasets, images to write, and checks, all of which are made
although one fails. Imported where Python has no Pillow, it ends the script with 77."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    from PIL import Image, ImageOps
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

BUILD = Path(os.environ.get("TENON_BUILD_DIR", "build/release"))
TOOL = str(BUILD / "tests" / "tenon_image_tool")
PLUGIN = str(BUILD / "lib" / "tenon" / "plugins" / "tenon_image_datasets.so")
SAMPLINGS = {
    "444": [[1, 1], [1, 1], [1, 1]],
    "422": [[2, 1], [1, 1], [1, 1]],
    "420": [[2, 2], [1, 1], [1, 1]],
    "440": [[1, 2], [1, 1], [1, 1]],
    "411": [[4, 1], [1, 1], [1, 1]],
}
failures = []
said = []  # what each run of the tool wrote to the console


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED", what)


def tool(*words):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
    said.append(done.stderr)
    return done.stdout


def read(name, **params):
    """All items of a dataset: dictionaries of arrays, or {"error": text}; with what open() had to say."""
    with tempfile.NamedTemporaryFile() as out:
        told = json.loads(tool("dump", PLUGIN, name, json.dumps(params), out.name))
        data = Path(out.name).read_bytes()
    for item in told.get("items", []):
        if "error" in item:
            continue
        for field, what in item.items():
            count = int(np.prod(what["shape"], dtype=np.int64))
            item[field] = np.frombuffer(data, what["dtype"], count, what["offset"]).reshape(what["shape"])
    return told


def read_folder(folder, **params):
    """Items of a folder without classes by their files' names."""
    told = read("image_folder", path=str(folder), labels=False, **params)
    assert "items" in told, told
    return dict(zip(sorted(each.name for each in Path(folder).iterdir()), told["items"]))


def photo(width, height, channels, seed=1):
    """Slopes, edges and noise: uint8 [height, width, channels]."""
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    values = x * (3 + c) + y * (5 - c) + (x // 7 + y // 5 + c) % 2 * 70
    return ((values + np.random.default_rng(seed).integers(0, 24, values.shape)) % 256).astype(np.uint8)


def by_pillow(path, mode, upright=True):
    image = Image.open(path)
    if upright:
        image = ImageOps.exif_transpose(image)
    array = np.asarray(image.convert(mode))
    return array[:, :, None] if array.ndim == 2 else array


def exif(orientation):
    data = Image.Exif()
    data[0x0112] = orientation
    return data


def run(**tests):
    """Calls each test with an empty folder of its own; ends the script with 1 where a check failed."""
    with tempfile.TemporaryDirectory() as root:
        for name, test in tests.items():
            folder = Path(root) / name
            folder.mkdir()
            test(folder)
    if failures:
        print(len(failures), "failed")
        sys.exit(1)
    print("all equal")
