"""The example that embeds the kernel, built out of tree against an installed Tenon, does what its page says."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

os.umask(0o022)  # a plugin that its group may write to is not trusted

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name not in ("TENON_PLUGIN_PATH", "CMAKE_GENERATOR", "LD_LIBRARY_PATH")}
# As a program over tensors would: Tenon::torch beside Tenon::kernel.
OVER_TENSORS = """
add_executable(tensors tensors.cpp)
target_link_libraries(tensors PRIVATE Tenon::kernel Tenon::torch)
"""
TENSORS = """// A program that is linked to libtorch, and to which the kernel adds none.
#include <cstdio>

#include <ATen/ATen.h>

#include <tenon/kernel.hpp>

int main(int, char** argv) {
  const at::Tensor positions = at::tensor({0.3F, 0.2F, -1.1F, 1.1F, 0.0F, -2.7F});
  const tenon::kernel::Runtime runtime;
  try {
    static_cast<void>(runtime.predictor(argv[1], {.fields = {{"position", tenon::Dtype::kFloat32, {2}}}}));
  } catch (const tenon::kernel::Error& error) {
    std::printf("%d %s\\n", error.exit_code(), error.diagnostics().front().code.c_str());
  }
  return positions.numel() == 6 ? 0 : 1;
}
"""


def run(*words, cwd, codes=(0,), env=ENVIRONMENT):
    made = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, timeout=600,
                          check=False)
    if made.returncode not in codes:
        print(f"FAILED: {words}: exit {made.returncode}\n{made.stdout[-4000:]}{made.stderr[-4000:]}")
        sys.exit(1)
    return made


def must(holds, what):
    if not holds:
        print(f"FAILED: {what}")
        sys.exit(1)


def exported(library):
    """Demangled names that a library shows."""
    listed = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return [line.split(" ", 2)[2] for line in listed.splitlines() if line.split(" ", 2)[1] in "TDBR"]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch).resolve()
        run("cmake", "--install", BUILD, "--prefix", work / "first", cwd=work)
        prefix = work / "prefix"
        (work / "first").rename(prefix)  # nothing may remember where it was installed

        example = work / "embed"
        shutil.copytree(prefix / "share/tenon/examples/embed", example)
        (example / "tensors.cpp").write_text(TENSORS)
        with open(example / "CMakeLists.txt", "a") as file:
            file.write(OVER_TENSORS)
        run("cmake", "-S", example, "-B", example / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror", cwd=work)
        run("cmake", "--build", example / "build", "-j", 2, cwd=work)
        program = example / "build/embed"

        # It needs no libtorch to start; its own component is inside, and no file but the executable was made.
        needed = run("readelf", "-d", program, cwd=work).stdout
        must("libtenon_kernel.so.1" in needed and "torch" not in needed, f"what it is linked to: {needed}")
        must(not list(example.rglob("*.so")), "a plugin was built")
        strange = [name for name in exported(prefix / "lib/libtenon_kernel.so.1") if "tenon::kernel::" not in name]
        must(not strange, f"libtenon_kernel shows {strange[:5]}")

        made = run(program, cwd=example)
        shown = re.fullmatch(r"accuracy (0\.9[789]|1\.00), stopped after (\d+) steps: "
                             r"(\S*/runs/embed/0001/checkpoints/step-\d+)\n"
                             r"ring 0\nring 1\nring 2\n", made.stdout)
        must(shown and made.stderr == "", f"what it says: {made.stdout}{made.stderr}")
        must((example / shown[3]).is_dir(), f"{shown[3]} is no checkpoint")

        # The same again, in the same folder.
        must(run(program, cwd=example).stdout.splitlines()[1:] == ["ring 0", "ring 1", "ring 2"], "a second time")

        # One type of error, with its text and its code.
        wrong = (example / "embed.json").read_text().replace('"field": "position"', '"fields": "position"')
        (example / "wrong.json").write_text(wrong)
        failed = run(program, "wrong.json", cwd=example, codes=(2,))
        must("wrong.json:" in failed.stderr and 'has no parameter "fields"' in failed.stderr, failed.stderr)
        failed = run(program, "missing.json", cwd=example, codes=(2,))
        must("missing.json does not exist" in failed.stderr, failed.stderr)

        # Without the program's components the run cannot be opened, which is an error and no crash.
        told = run(example / "build/tensors", example / shown[3], cwd=example)
        must(told.stdout.startswith("2 "), f"the program over tensors: {told.stdout}{told.stderr}")
    print("passed")


main()
