"""The rules of the rooms: who may include whom, and what must not be in a header or in core."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)

# A room and the prefixes of includes that lead into rooms that it must not know.
FORBIDDEN = {
    "plugin_api": ["core/", "engine/", "host/"],
    "plugins": ["core/", "engine/", "host/"],
    "sdk": ["core/", "engine/", "host/"],
    "kernel/core": ["engine/", "embed/", "host/", "ATen/", "torch/", "c10/", "tenon/nn/", "tenon/tensors.hpp", "tenon/step.hpp"],
    "kernel/engine": ["host/", "embed/", "tenon/kernel"],
    "kernel/embed": ["host/", "ATen/", "torch/", "c10/", "tenon/nn/", "tenon/tensors.hpp", "tenon/step.hpp"],
    "kernel/embed/include": ["core/", "engine/", "embed/"],
    "kernel/engine/data": ["ATen/", "torch/", "c10/", "tenon/nn/", "tenon/tensors.hpp", "tenon/step.hpp"],
    "hosts": ["ATen/", "torch/", "c10/", "tenon/nn/", "tenon/tensors.hpp", "tenon/step.hpp"],
}
HEAVY = ["torch/torch.h", "torch/all.h", "torch/nn.h"]
# Headers of plugin_api that need no libtorch: a component over them alone survives an upgrade of it.
PLAIN_COMPONENTS = ["dataset", "transform", "schedule", "observer"]
PRIVATE_LIBRARIES = ["nlohmann/", "boost/", "fmt/", "opencv2/"]
TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "dev", "kernel", "plugin_api", "plugins", "hosts",
    "schemas", "tests", "sdk",
}


def tracked():
    made = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        print("skipped: not a git checkout")
        sys.exit(77)
    return [pathlib.Path(name) for name in made.stdout.splitlines() if (ROOT / name).exists()]


def main():
    problems = []
    files = tracked()
    sources = [name for name in files if name.suffix in {".cpp", ".hpp", ".cu"}]
    for name in sources:
        text = (ROOT / name).read_text()
        for include in INCLUDE.findall(text):
            for room, prefixes in FORBIDDEN.items():
                if name.is_relative_to(room) and include.startswith(tuple(prefixes)):
                    problems.append(f"{name} includes <{include}>, which {room} must not know")
            if name.suffix == ".hpp" and include in HEAVY:
                problems.append(f"{name} includes <{include}>, which costs tens of seconds a file")
            for shown in ["plugin_api/include", "kernel/embed/include"]:
                if name.is_relative_to(shown) and include.startswith(tuple(PRIVATE_LIBRARIES)):
                    problems.append(f"{name} shows <{include}> to those who include it")
        if name.suffix == ".hpp" and "#pragma once" not in text:
            problems.append(f"{name} has no #pragma once")
        if not text.startswith("//"):
            problems.append(f"{name} does not begin with a comment that tells its purpose")

    components = ROOT / "plugin_api/include/tenon/components"
    for kind in PLAIN_COMPONENTS:
        reached, waiting = set(), [components / f"{kind}.hpp"]
        while waiting:
            header = waiting.pop()
            if header in reached or not header.exists():
                continue
            reached.add(header)
            for include in INCLUDE.findall(header.read_text()):
                if include.startswith(("ATen/", "torch/", "c10/")):
                    problems.append(f"components/{kind}.hpp reaches <{include}> through {header.name}")
                waiting.append(ROOT / "plugin_api/include" / include)

    for name in {path.parts[0] for path in files}:
        if name not in TOP_LEVEL and not name.startswith("."):
            problems.append(f"{name} does not belong to the top level")

    if len(sources) < 100:
        problems.append(f"only {len(sources)} sources were looked at")
    print("\n".join(problems) or f"{len(sources)} sources keep the rules")
    sys.exit(1 if problems else 0)


main()
