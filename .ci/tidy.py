"""tidy.py BUILD FILE...: clang-tidy, as many at a time as there are cores; what passed is not checked again.

BUILD holds compile_commands.json. A file counts as checked while it, the headers of ours that it includes, its command
and .clang-tidy stay the same: stamps below TENON_CACHE, which all clones of a user share.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path.cwd()
STAMPS = pathlib.Path(os.environ.get("TENON_CACHE") or pathlib.Path.home() / ".cache/tenon") / "tidy"


def read_commands(build):
    entries = json.loads((build / "compile_commands.json").read_text())
    return {os.path.relpath(entry["file"], ROOT): entry for entry in entries}


def key_of(entry, settings):
    """A hash over all that decides what clang-tidy will say, system headers apart."""
    command = shlex.split(entry["command"])
    output = command.index("-o")
    listing = command[:output] + command[output + 2 :] + ["-MM"]
    made = subprocess.run(listing, cwd=entry["directory"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return None
    names = made.stdout.replace("\\\n", " ").split(":", 1)[1].split()
    key = hashlib.sha256(settings + " ".join(command).replace(str(ROOT), "").encode())
    for name in names:
        key.update(pathlib.Path(entry["directory"], name).read_bytes())
    return key.hexdigest()


def check(name, entry, build, settings):
    key = key_of(entry, settings)
    stamp = STAMPS / f"{key}"
    if key and stamp.exists():
        return name, True, ""
    run = subprocess.run(["clang-tidy", "--quiet", "-p", build, name], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        STAMPS.mkdir(parents=True, exist_ok=True)
        stamp.touch()
        return name, True, ""
    return name, False, run.stdout or run.stderr


def main():
    build = pathlib.Path(sys.argv[1])
    commands = read_commands(build)
    names = [name for name in sys.argv[2:] if name in commands]
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes()
    passed = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = [pool.submit(check, name, commands[name], build, settings) for name in names]
        for done in concurrent.futures.as_completed(checks):
            name, good, text = done.result()
            if not good:
                passed = False
                print(f"{name}:\n{text}", flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
