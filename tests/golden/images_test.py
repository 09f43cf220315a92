"""The images that the tests of image transforms compare with are those that torchvision and Pillow make."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GOLDEN = pathlib.Path(os.environ["TENON_SOURCE_DIR"]) / "tests" / "golden"
PYTHON_TORCH = os.environ.get("TENON_PYTHON_TORCH", "")
TIME_LIMIT = 300  # seconds: far more than making them takes
SKIPPED = 77
VERSIONS = "import PIL, torchvision; print(torchvision.__version__.split('+')[0], PIL.__version__.split('.')[0])"
WANTED = "0.26.0 12"


def reason_to_skip():
    if not PYTHON_TORCH:
        return "TENON_PYTHON_TORCH names no interpreter with torch"
    try:
        done = subprocess.run([PYTHON_TORCH, "-c", VERSIONS], capture_output=True, text=True, timeout=TIME_LIMIT,
                              check=False)
    except OSError as error:
        return f"{PYTHON_TORCH} does not start: {error}"
    if done.returncode != 0:
        return f"{PYTHON_TORCH} does not import torchvision and PIL: {done.stderr.strip().splitlines()[-1:]}"
    if done.stdout.strip() != WANTED:
        return f"torchvision and Pillow are {done.stdout.strip()}, and the images were made with {WANTED}"
    return None


class ImagesTest(unittest.TestCase):
    def test_the_file_is_what_torchvision_gives_to_the_byte(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PYTHON_TORCH, GOLDEN / "make_images.py", folder], capture_output=True, text=True,
                                  timeout=TIME_LIMIT, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            made = (pathlib.Path(folder) / "operations.json").read_bytes()
        kept = (GOLDEN / "images" / "operations.json").read_bytes()
        self.assertTrue(made == kept, "operations.json is not what make_images.py writes: make it anew")
        self.assertLess(len(kept), 350_000)


if __name__ == "__main__":
    reason = reason_to_skip()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main()
