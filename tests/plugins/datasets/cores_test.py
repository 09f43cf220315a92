"""Threads that read data are as many as a control group's quota of processor time fills, and those of the groups above."""
import os
import subprocess
import tempfile
from pathlib import Path

TOOL = str(Path(os.environ.get("TENON_BUILD_DIR", "build/release")) / "tests" / "tenon_image_tool")


def cores(group):
    return int(subprocess.run([TOOL, "cores", root, group], capture_output=True, text=True, check=True, timeout=60).stdout)


with tempfile.TemporaryDirectory() as root:
    for group, quota in {"": "max 100000", "a": "400000 100000", "a/b": "max 100000", "a/b/c": "150000 100000",
                         "d": "nonsense"}.items():
        (Path(root) / group).mkdir(exist_ok=True)
        (Path(root) / group / "cpu.max").write_text(quota + "\n")
    wanted = {"/": 0, "/a": 4, "/a/b": 4, "/a/b/c": 2, "/a/b/none": 4, "/d": 0, "": 0}
    found = {group: cores(group) for group in wanted}
    assert found == wanted, found
