"""What `tenon plugins new` writes for each kind configures, builds, passes its test and `plugins check`, and runs.

Against an installed Tenon: one plugin alone, by the very commands that are printed, the others as one build that shares
a precompiled header. With sources for CUDA where there is an nvcc.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

os.umask(0o022)  # a plugin that its group may write to is not trusted

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
KINDS = ["dataset", "transform", "model", "loss", "optimizer", "schedule", "metric", "precision", "distributed",
         "exporter", "observer"]
ALONE = "dataset"
WITH_CUDA = {"transform": "gamma", "loss": "round"}  # C has functions of these names
FLAGS = "-O0 -Wall -Wextra -Wshadow -Wconversion -Werror"  # -O0: compiled once, and run for seconds
CUDA_FLAGS = "-Xcompiler=-Wall,-Wextra,-Wconversion,-Werror"
ALL = """cmake_minimum_required(VERSION 3.25)
project(all LANGUAGES CXX)
find_package(Tenon REQUIRED)
tenon_torch_pch()
{cuda}
file(GLOB folders ${{CMAKE_CURRENT_SOURCE_DIR}}/*/CMakeLists.txt)
foreach(folder IN LISTS folders)
  cmake_path(GET folder PARENT_PATH folder)
  add_subdirectory(${{folder}})
endforeach()
"""

begin = time.monotonic()


def say(text):
    print(f"{time.monotonic() - begin:5.1f} s  {text}", flush=True)


def fail(what, made):
    print(f"FAILED: {what}: exit {made.returncode}\n{made.stdout[-6000:]}{made.stderr[-6000:]}")
    sys.exit(1)


class Workplace:
    """A folder with an installed Tenon, where this test's commands run."""

    def __init__(self, folder):
        self.folder = folder
        self.prefix = folder / "prefix"
        self.tenon = self.prefix / "bin/tenon"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        (folder / "home").mkdir()
        (folder / "all").mkdir()
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("TENON_PLUGIN_PATH", "CMAKE_GENERATOR")}
        self.environment |= {"HOME": str(folder / "home"), "TMPDIR": str(self.temporary),
                             "TEST_TMPDIR": str(self.temporary)}
        self.must("cmake", "--install", BUILD, "--prefix", self.prefix)

    def run(self, *words, **more):
        return subprocess.run(list(map(str, words)), cwd=self.folder, env=self.environment | more, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)

    def must(self, *words):
        made = self.run(*words)
        if made.returncode != 0:
            fail(" ".join(map(str, words)), made)
        return made.stdout

    def new(self, kind, name, out, *options):
        """Writes a plugin; gives the commands that are printed. No word of the template is left in it."""
        printed = self.must(self.tenon, "plugins", "new", kind, name, "--out", out, *options)
        for file in (self.folder / out).iterdir():
            left = re.search(r"my_|\bMy[A-Z]|@[A-Z]+@|README\.part", f"{file.name}\n{file.read_text()}")
            if left:
                sys.exit(f"FAILED: {kind}: {file.name} still has the template's {left[0]}")
        return re.findall(r"^  (.+)$", printed[printed.index("\nnext:\n") :], re.MULTILINE)

    def all_kinds(self):
        listed = [line.split()[0] for line in self.must(self.tenon, "plugins", "new").splitlines()]
        if listed != KINDS:
            sys.exit(f"FAILED: the kinds are {listed}")

    def alone(self):
        """By the commands that are printed, as they are."""
        commands = self.new(ALONE, "by_itself", "by_itself", "--id", "org.example.of-its-own")
        made = self.run("bash", "-ec", "\n".join(commands))
        if made.returncode != 0:
            fail("\n".join(commands), made)
        for wanted in ("100% tests passed", "0 failed", "by_itself is trained"):
            if wanted not in made.stdout:
                fail(f"{wanted!r} is not told", made)
        if '"org.example.of-its-own"' not in self.must(self.tenon, "plugins", "show", "--plugin-path", "by_itself/build",
                                                       f"{ALONE}:by_itself", "--format", "json"):
            sys.exit("FAILED: --id is not the plugin's id")
        say(f"{ALONE}, alone, by {len(commands)} printed commands")

    def together(self, plugins, cuda):
        """Builds all plugins below the folder "all", and runs their tests."""
        (self.folder / "all/CMakeLists.txt").write_text(ALL.format(cuda="tenon_enable_cuda()" if cuda else ""))
        flags = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={FLAGS}", f"-DCMAKE_CUDA_FLAGS={CUDA_FLAGS}"]
        self.must("cmake", "-S", "all", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}", *flags)
        self.must("cmake", "--build", "build")
        say(f"{len(plugins)} plugins built")
        tests = self.must("ctest", "--test-dir", "build", "--output-on-failure", "-j", "2")
        if f"100% tests passed, 0 tests failed out of {len(plugins)}" not in tests:
            sys.exit(f"FAILED: not {len(plugins)} tests were run:\n{tests}")
        say("their tests")

    def proves(self, plugin):
        kind, name = plugin
        build = f"build/{name}"
        checked = self.run(self.tenon, "plugins", "check", f"{build}/{name}.so")
        if checked.returncode != 0 or " 0 with a warning" not in checked.stdout:
            return f"{kind}: plugins check: exit {checked.returncode}\n{checked.stdout}{checked.stderr}"
        pipeline = [f"all/{name}/pipeline.jsonc", "--plugin-path", build]
        told = self.run(self.tenon, "check", "--strict", *pipeline)
        if told.returncode != 0 or told.stderr:
            return f"{kind}: check: exit {told.returncode}\n{told.stdout}{told.stderr}"
        ran = self.run(self.tenon, "run", *pipeline)
        lock = self.folder / f"runs/{name}/0001/lock.json"
        if ran.returncode != 0 or f"org.example.{name}" not in lock.read_text():
            return f"{kind}: run: exit {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ""

    def has_nvcc(self):
        """One that takes C++20 from the compiler beside it."""
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not os.path.exists(nvcc):
            return False
        (self.folder / "empty.cu").touch()
        return self.run(nvcc, "-std=c++20", "-c", "empty.cu", "-o", "empty.o").returncode == 0

    def without_nvcc(self):
        """One sentence, and what to do."""
        self.new("transform", "no_compiler", "no_compiler", "--cuda")
        self.environment.pop("CUDACXX", None)
        # The answer of a search that found nothing, so that none is made.
        made = self.run("cmake", "-S", "no_compiler", "-B", "no_compiler/build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                        "-DTENON_NVCC:FILEPATH=")
        told = " ".join(made.stderr.split())
        if made.returncode == 0 or "no_compiler has sources for CUDA, but its compiler nvcc was not found" not in told:
            fail("configuring without nvcc", made)


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace(pathlib.Path(folder).resolve())
        place.all_kinds()
        place.alone()
        cuda = place.has_nvcc()
        plugins = [(kind, f"own_{kind}") for kind in KINDS if kind != ALONE]
        for kind, name in plugins:
            place.new(kind, name, f"all/{name}")
        if cuda:
            for kind, name in WITH_CUDA.items():
                plugins.append((kind, name))
                place.new(kind, name, f"all/{name}", "--cuda")
        else:
            print("skipped: the variants with sources for CUDA: no nvcc that compiles C++20 is installed")
        place.together(plugins, cuda)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            problems = [problem for problem in pool.map(place.proves, plugins) if problem]
        if problems:
            sys.exit("FAILED: " + "\n".join(problems))
        say("checked, and their pipelines run")
        place.without_nvcc()
        if left := list(place.temporary.iterdir()):
            sys.exit(f"FAILED: temporary files are left: {left}")
        say(f"passed: {len(plugins) + 1} plugins")


main()
