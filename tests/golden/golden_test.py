"""The numbers that the tests of optimizers, schedules and losses compare with are those that Python's torch gives."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GOLDEN = pathlib.Path(os.environ["TENON_SOURCE_DIR"]) / "tests" / "golden"
PYTHON_TORCH = os.environ.get("TENON_PYTHON_TORCH", "")
TIME_LIMIT = 300  # seconds: far more than writing them takes
SKIPPED = 77


def reason_to_skip():
    if not PYTHON_TORCH:
        return "TENON_PYTHON_TORCH names no interpreter with torch"
    try:
        done = subprocess.run([PYTHON_TORCH, "-c", "import torch"], capture_output=True, text=True, timeout=TIME_LIMIT,
                              check=False)
    except OSError as error:
        return f"{PYTHON_TORCH} does not start: {error}"
    if done.returncode != 0:
        return f"{PYTHON_TORCH} does not import torch: {done.stderr.strip().splitlines()[-1:]}"
    return None


def differences(made, kept, place=""):
    """Where two values differ by more than the last bits, in which processors of other instruction sets do."""
    if isinstance(kept, float) and isinstance(made, float):
        return [] if math.isclose(made, kept, rel_tol=1e-12, abs_tol=1e-14) else [f"{place}: {made!r}, not {kept!r}"]
    if type(kept) is not type(made):
        return [f"{place}: {made!r}, not {kept!r}"]
    if isinstance(kept, dict):
        pairs = [(key, made.get(key), kept.get(key)) for key in [*kept, *(key for key in made if key not in kept)]]
    elif isinstance(kept, list):
        if len(made) != len(kept):
            return [f"{place}: {len(made)} elements, not {len(kept)}"]
        pairs = [(str(i), *pair) for i, pair in enumerate(zip(made, kept))]
    else:
        return [] if made == kept else [f"{place}: {made!r}, not {kept!r}"]
    return [line for key, *pair in pairs for line in differences(*pair, f"{place}/{key}")]


class GoldenTest(unittest.TestCase):
    def test_the_files_are_those_that_torch_gives(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PYTHON_TORCH, GOLDEN / "make_golden.py", folder], capture_output=True, text=True,
                                  timeout=TIME_LIMIT, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            made = {path.name: json.loads(path.read_text()) for path in pathlib.Path(folder).iterdir()}
        kept = {path.name: json.loads(path.read_text()) for path in GOLDEN.glob("*.json")}
        self.assertEqual(sorted(made), ["losses.json", "optimizers.json", "schedules.json"])
        self.assertEqual(sorted(kept), sorted(made))
        for name, content in made.items():
            with self.subTest(file=name):
                self.assertEqual(differences(content, kept[name])[:5], [], "not what make_golden.py writes: make it anew")


if __name__ == "__main__":
    reason = reason_to_skip()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main()
