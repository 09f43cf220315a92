"""The environment in which the peers run, and the images that all read: made once, kept in the cache."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import zlib

# What each peer needs besides libtorch's own environment. Each group is installed apart: one that cannot be had costs
# its rows alone.
PACKAGES = {
    "images": ["numpy==2.4.6", "pillow==13.0.0", "scikit-image==0.26.0", "scikit-learn==1.9.1"],
    "torchvision": ["torchvision==0.26.0"],
    "cv2": ["opencv-python-headless==5.0.0.93"],
    "webdataset": ["webdataset==1.0.2", "braceexpand==0.1.7", "pyyaml==6.0.4"],
    "torchdata": ["torchdata==0.11.0"],
    "dali": ["nvidia-dali-cuda130==2.4.0", "nvidia-nvimgcodec-cu13==0.9.0.20", "optree==0.20.0", "gast==0.7.0",
             "astunparse==1.6.3", "dm-tree==0.1.10", "nvtx==0.2.17", "wrapt==2.5.2", "makefun==1.16.0", "six==1.17.0",
             "attrs==26.1.0", "absl-py==2.5.1", "packaging==26.4"],
}
IMAGES = 1024  # a multiple of every batch that is measured
MANY_FILES, MANY_CLASSES = 1281167, 1000
HERE = pathlib.Path(__file__).parent


def many_name(index):
    """Of a file among the many, below their folder."""
    of_class = index % MANY_CLASSES
    return f"n{of_class:08d}/{of_class:08d}_{index}.jpg"


def many_name_bytes():
    """How long these names are in the mean."""
    return sum(len(many_name(index)) for index in range(MANY_FILES)) / MANY_FILES


class Environment:
    """Paths, and what could not be installed."""

    def __init__(self, cache, libtorch):
        made_of = json.dumps([PACKAGES, IMAGES, (HERE / "make_images.py").read_text()])
        self.folder = pathlib.Path(cache) / f"bench-{zlib.crc32(made_of.encode()):08x}"
        self.libtorch = pathlib.Path(libtorch)
        self.python = self.folder / "bin" / "python"
        self.images = self.folder / "images"
        if not (self.folder / "complete").exists():
            self._make()
        self.missing = json.loads((self.folder / "missing.json").read_text())

    def variables(self):
        """torch is that of libtorch's environment, with its stand-ins for CUDA libraries that are not there."""
        return {"LD_LIBRARY_PATH": str(self.libtorch / "cuda-stand-ins"), "OMP_NUM_THREADS": "1",
                "MKL_NUM_THREADS": "1"}

    def many_files(self):
        """1.28 million names in a thousand folders, as large as ImageNet: links to the images, which take no room."""
        folder = self.folder / "many"
        if not (folder / "complete").exists():
            print(f"Linking {MANY_FILES:,} files in {folder}", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            images = sorted((self.images / "train").glob("*/*.jpg"))
            for of_class in range(MANY_CLASSES):
                (folder / "train" / f"n{of_class:08d}").mkdir(parents=True)
            for index in range(MANY_FILES):
                os.link(images[index % len(images)], f"{folder}/train/{many_name(index)}")
            (folder / "complete").touch()
        return folder / "train"

    def _make(self):
        print(f"Installing the peers into {self.folder} (1 GB)", flush=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", self.folder], check=True)
        site, = self.folder.glob("lib/python3*/site-packages")
        torch, = self.libtorch.glob("lib/python3*/site-packages")
        (site / "libtorch.pth").write_text(f"{torch}\n")  # behind the peers' own packages
        missing = {}
        for group, packages in PACKAGES.items():
            done = subprocess.run(
                [self.python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "--retries", "2", "install",
                 "--no-compile", "--no-deps", *packages], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                missing[group] = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        if "images" in missing:
            sys.exit(f"the images cannot be made: {missing['images']}")
        subprocess.run([self.python, HERE / "make_images.py", site, self.images, str(IMAGES)], check=True)
        (self.folder / "missing.json").write_text(json.dumps(missing))
        (self.folder / "complete").touch()
