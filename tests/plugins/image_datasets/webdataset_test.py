"""dataset:tar_shards reads archives as webdataset's TarWriter writes them.

That one streams Python's tarfile in its usual format, pax, with times of fractions of a second, so that a header of its
own stands before every file; with a mode, a user and a group of its own; and the end is padded to 10,240 bytes.
"""
import io
import json
import os
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np

BUILD = Path(os.environ.get("TENON_BUILD_DIR", "build/release"))
TOOL = str(BUILD / "tests" / "tenon_image_tool")
PLUGIN = str(BUILD / "lib" / "tenon" / "plugins" / "tenon_image_datasets.so")


def write(path, samples):
    """As TarWriter.write() does: members sorted by their extensions, "__key__" before the first point."""
    with open(path, "wb") as file, tarfile.open(fileobj=file, mode="w|") as archive:
        for key, files in samples:
            for extension in sorted(files):
                member = tarfile.TarInfo(f"{key}.{extension}")
                member.size, member.mtime, member.mode = len(files[extension]), time.time(), 0o0444
                member.uname = member.gname = "bigdata"
                archive.addfile(member, io.BytesIO(files[extension]))


def sample(number):
    pixels = bytes((number * 7 + i) % 251 for i in range(3 * 2))
    array = io.BytesIO()
    np.save(array, np.array([number, -number], np.int32))
    return {"ppm": b"P6 2 1 255\n" + pixels, "cls": str(number).encode(), "part.seg.pgm": b"P5 1 1 255\n" + bytes([number]),
            "json": json.dumps({"who": {"name": f"n{number}"}}).encode(), "npy": array.getvalue()}


KEYS = ["000000", "a/b", "long/" + "x" * 180, "käse/ü" * 20, "bytes-" + "y" * 94, "in.folder/z"]
FIELDS = [{"name": "image", "type": "image"}, {"name": "label", "type": "integer"},
          {"name": "mask", "type": "bytes", "extensions": ["part.seg.pgm"]},
          {"name": "who", "type": "text", "pick": "who.name"},
          {"name": "pair", "type": "npy", "dtype": "int32", "shape": [2]}]

with tempfile.TemporaryDirectory() as folder:
    for shard in range(2):
        write(Path(folder) / f"train-{shard}.tar", [(key, sample(10 * shard + i)) for i, key in enumerate(KEYS)])
    assert (Path(folder) / "train-0.tar").stat().st_size % 10240 == 0
    out = Path(folder) / "out"
    params = json.dumps({"paths": [f"{folder}/train-{{0..1}}.tar"], "fields": FIELDS})
    done = subprocess.run([TOOL, "dump", PLUGIN, "tar_shards", params, str(out)], capture_output=True, text=True,
                          check=True, timeout=100)
    told = json.loads(done.stdout)
    assert "items" in told, told
    data = out.read_bytes()

    def field(item, name):
        what = item[name]
        count = int(np.prod(what["shape"], dtype=np.int64))
        return np.frombuffer(data, what["dtype"], count, what["offset"])

    wanted = [10 * shard + i for shard in range(2) for i in range(len(KEYS))]
    assert len(told["items"]) == len(wanted), told
    for number, item in zip(wanted, told["items"]):
        assert "error" not in item, item
        files = sample(number)
        assert field(item, "image").tobytes() == files["ppm"][-6:], (number, item)
        assert field(item, "label")[0] == number, (number, item)
        assert field(item, "mask").tobytes() == files["part.seg.pgm"], (number, item)
        assert field(item, "who").tobytes() == f"n{number}".encode(), (number, item)
        assert field(item, "pair").tolist() == [number, -number], (number, item)
print(len(wanted), "samples of", len(KEYS), "kinds of names")
