"""pixels.py DESCRIPTION DESCRIPTION: how far two files of pixels differ, as JSON.

A description is JSON {"file", "shape", "dtype", "mean", "std"}; with mean and std the values are brought back to
0..255. Images are channels last or channels first, by their shape.
"""

import json
import sys

import numpy as np


def read(description):
    pixels = np.fromfile(description["file"], description["dtype"]).reshape(description["shape"])
    if pixels.shape[1] == 3:
        pixels = pixels.transpose(0, 2, 3, 1)
    if "mean" in description:
        pixels = (pixels * np.array(description["std"]) + np.array(description["mean"])) * 255
    return pixels.astype(np.float32)


def main():
    ours, reference = (read(json.loads(text)) for text in sys.argv[1:])
    if ours.shape != reference.shape:
        print(json.dumps({"shapes": [list(ours.shape), list(reference.shape)]}))
        return
    difference = np.abs(ours - reference)
    print(json.dumps({"mean": float(difference.mean()), "p99": float(np.percentile(difference, 99)),
                      "most": float(difference.max())}))


if __name__ == "__main__":
    main()
