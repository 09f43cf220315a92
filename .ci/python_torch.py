"""python_torch.py: run by a virtual environment's Python, makes bin/python-torch beside it, which can import torch.

PyPI's torch is linked to CUDA libraries of some 2.5 GB, none of which does anything without a GPU. The tests only need
the CPU, so each library that is missing gets a stand-in of that name, whose functions all return an error.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

SITE = pathlib.Path(sysconfig.get_path("purelib"))
LIBRARIES = SITE / "torch" / "lib"
STAND_INS = pathlib.Path(sys.prefix) / "cuda-stand-ins"
PROGRAM = pathlib.Path(sys.prefix) / "bin" / "python-torch"


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def missing_libraries():
    return set(re.findall(r"(\S+) => not found", output_of("ldd", LIBRARIES / "libtorch_python.so")))


def wanted_symbols():
    """(name, version or "") of all functions that torch's libraries take from others."""
    wanted = set()
    for library in LIBRARIES.glob("*.so"):
        for line in output_of("nm", "-D", "--undefined-only", library).splitlines():
            name, _, version = line.split()[-1].partition("@")
            wanted.add((name, version.lstrip("@")))
    return wanted


def make_stand_in(library, wanted):
    stem = re.match(r"lib([A-Za-z]+)", library)[1].lower()  # libcufile.so.0 -> cufile, as in cuFileOpen
    versions = collections.defaultdict(list)
    for name, version in sorted(wanted):
        if name.lower().startswith(stem):
            versions[version].append(name)
    names = sorted({name for group in versions.values() for name in group})
    labels = "".join(f".globl {name}\n.type {name}, @function\n{name}:\n" for name in names)
    script = "".join(f"{version} {{ global: {'; '.join(group)}; }};\n" for version, group in versions.items() if version)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "functions.c")
        source.write_text("__asm__(" + json.dumps(f".text\n{labels}mov $1, %eax\nret\n") + ");\n")
        command = ["gcc", "-shared", "-nostdlib", "-std=gnu11", "-o", STAND_INS / library, f"-Wl,-soname,{library}", source]
        if script:
            pathlib.Path(folder, "versions.map").write_text(script)
            command.append(f"-Wl,--version-script={folder}/versions.map")
        subprocess.run(command, check=True)


def main():
    STAND_INS.mkdir(exist_ok=True)
    wanted = wanted_symbols()
    for library in sorted(missing_libraries()):
        make_stand_in(library, wanted)
    PROGRAM.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={STAND_INS} exec {sys.executable} "$@"\n')
    PROGRAM.chmod(0o755)
    check = subprocess.run([PROGRAM, "-c", "import torch; torch.ones(2).sum()"], capture_output=True, text=True, check=False)
    if check.returncode != 0:
        PROGRAM.unlink()
        print(f"Python cannot import torch here: {check.stderr.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
