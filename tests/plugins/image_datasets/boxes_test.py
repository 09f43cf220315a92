"""Boxes from tar archives, another number for each image, go along with flips, crops and sizes into padded batches."""
import io
import json
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

import numpy as np

TENON = str(Path(os.environ.get("TENON_BUILD_DIR", "build/release")) / "bin" / "tenon")
HEIGHT, WIDTH, CUT = 24, 40, 20
BOXES = [[[2, 3, 12, 9], [30, 1, 38, 20]], [], [[0, 0, 40, 24]], [[1, 1, 4, 4], [9, 9, 12, 12], [28, 2, 33, 5]],
         [[35, 2, 39, 6]], [[12, 4, 16, 8]], [], [[5, 5, 35, 20], [15, 0, 25, 24]]]
MOST = 4  # boxes of a sample in the batches of predictions


def archive(path):
    def array(values):
        file = io.BytesIO()
        np.save(file, values)
        return file.getvalue()

    with tarfile.open(path, "w") as tar:
        for number, boxes in enumerate(BOXES):
            pixels = bytes((number * 31 + i) % 256 for i in range(3 * HEIGHT * WIDTH))
            files = {"ppm": f"P6 {WIDTH} {HEIGHT} 255\n".encode() + pixels, "cls": str(number % 2).encode(),
                     "boxes.npy": array(np.array(boxes, np.float32).reshape(-1, 4)),
                     "kinds.npy": array(np.arange(len(boxes), dtype=np.int64) + 10 * number)}
            for extension, content in files.items():
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))


def pipeline():
    pad = [{"field": "boxes", "value": -1, "length": "count"}, {"field": "kinds", "value": -1}]
    padded = {"batch": 4, "pad": [each | {"to": MOST} for each in pad]}
    return {
        "format": 1, "name": "boxes", "run": {"seed": 3, "device": "cpu", "threads": 1},
        "nodes": {
            "shards": {"use": "dataset:tar_shards", "with": {"paths": ["boxes.tar"], "fields": [
                {"name": "image", "type": "image"}, {"name": "label", "type": "integer"},
                {"name": "boxes", "type": "npy", "shape": [-1, 4], "extensions": ["boxes.npy"]},
                {"name": "kinds", "type": "npy", "dtype": "int64", "shape": [-1], "extensions": ["kinds.npy"]}]}},
            "flip": {"use": "transform:random_horizontal_flip", "in": "shards", "with": {"p": 1, "boxes": "boxes"}},
            "cut": {"use": "transform:center_crop", "in": "flip",
                    "with": {"height": HEIGHT, "width": CUT, "boxes": "boxes", "with_boxes": ["kinds"]}},
            "large": {"use": "transform:resize", "in": "cut",
                      "with": {"height": 2 * HEIGHT, "width": 2 * CUT, "boxes": "boxes"}},
            "x": {"use": "transform:normalize_image", "in": "large", "with": {"mean": [0.5], "std": [0.25]}},
            "train": {"use": "loader:threads", "in": "x",
                      "with": {"batch": 3, "shuffle": True, "pad": pad[:1], "lists": ["kinds"]}},
            "seen": {"use": "loader:threads", "in": "x", "with": padded},
            "net": {"use": "model:cnn", "in": {"image": "batch.image"}, "with": {"classes": 2, "width": 2}},
            "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}},
            "opt": {"use": "optimizer:adamw", "of": "net"},
        },
        "fit": {"data": "train", "loss": "loss", "epochs": 1},
        "predict": {"data": "seen", "allow_random": True,
                    "outputs": {"boxes": "batch.boxes", "count": "batch.count", "kinds": "batch.kinds"}},
    }


def wanted(number):
    """Mirrored, cut to the columns in the middle, without what lies beyond them, and twice as large."""
    rows, kinds = [], []
    begin = (WIDTH - CUT) // 2
    for i, (left, top, right, bottom) in enumerate(BOXES[number]):
        left, right = (min(max(edge - begin, 0), CUT) for edge in (WIDTH - right, WIDTH - left))
        if left < right:
            rows.append([2 * left, 2 * top, 2 * right, 2 * bottom])
            kinds.append(10 * number + i)
    missing = MOST - len(rows)
    return {"boxes": rows + [[-1] * 4] * missing, "count": len(rows), "kinds": kinds + [-1] * missing}


with tempfile.TemporaryDirectory() as folder:
    archive(Path(folder) / "boxes.tar")
    (Path(folder) / "boxes.json").write_text(json.dumps(pipeline()))

    def tenon(*words):
        done = subprocess.run([TENON, *words], cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    tenon("check", "boxes.json")
    tenon("run", "boxes.json")
    tenon("predict", "runs/boxes/0001", "--format", "jsonl", "--out", "rows.jsonl")
    rows = [json.loads(line) for line in (Path(folder) / "rows.jsonl").read_text().splitlines()]
    assert len(rows) == len(BOXES), rows
    counts = set()
    for number, row in enumerate(rows):
        for field, values in wanted(number).items():
            assert np.array_equal(np.array(row[field]), np.array(values)), (number, field, row[field], values)
        counts.add(row["count"])
    assert len(counts) >= 3, counts
print(len(BOXES), "images with", sorted(counts), "boxes each")
