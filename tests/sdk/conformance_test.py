"""All of our own plugins pass `tenon plugins check`, within a minute each; what the command takes and says."""

import json
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
TENON = BUILD / "bin/tenon"
PLUGINS = BUILD / "lib/tenon/plugins"
problems = []


def check(*words):
    return subprocess.run([TENON, "plugins", "check", *words], capture_output=True, text=True)


def expect(holds, what, made=None):
    if not holds:
        problems.append(what + (f": exit {made.returncode}\n{made.stdout[-2000:]}{made.stderr[-2000:]}" if made else ""))


def own_plugins():
    for file in sorted(PLUGINS.glob("*.so")):
        begin = time.monotonic()
        made = check(file, "--format", "json")
        seconds = time.monotonic() - begin
        if not made.stdout.startswith("{"):
            expect(False, file.name, made)
            continue
        cases = json.loads(made.stdout)["cases"]
        components = {each["component"] for each in cases if not each["component"].startswith("plugin:")}
        print(f"{file.name}: {len(components)} components, {len(cases)} cases in {seconds:.1f} s")
        for each in cases:
            if each["verdict"] in ("failed", "warned"):
                problems.append(f"{file.name}: {each}")
        expect(made.returncode == 0, file.name, made)
        expect(seconds < 60 * max(1, len(components) / 12), f"{file.name} takes {seconds:.1f} s")
        used = {each["component"] for each in cases if each["case"] == "use.example" and each["verdict"] == "passed"}
        expect(used == components, f"{file.name}: only {sorted(used)} of {sorted(components)} can be used")


def list_of_cases():
    made = check("--list", "--format", "json")
    cases = json.loads(made.stdout)
    names = [each["case"] for each in cases]
    expect(names == sorted(set(names)), f"names are not unique and sorted: {names}")
    expect(len(names) >= 45, f"only {len(names)} cases")
    for each in cases:
        expect(re.fullmatch(r"[a-z]+(\.[a-z-]+)+", each["case"]), f"{each['case']} is no case name")
        expect(each["description"].endswith("."), f"{each['case']} is not described by a sentence")
    text = check("--list").stdout
    for name in names:
        expect(name in text, f"--list does not show {name}")


def options(folder):
    losses = PLUGINS / "tenon_losses.so"
    elsewhere = folder / "renamed.so"
    shutil.copy(losses, elsewhere)
    made = check(elsewhere, "--only", "loss.grad*", "--component", "loss:mse")
    expect(made.returncode == 0 and "1 cases: 1 passed" in made.stdout, "a copy elsewhere, one case", made)
    circle = folder / "circle.so"
    circle.symlink_to(circle)
    for words, says in (
        ((), "FILE is missing"),
        ((losses, "--only", "no.such"), "no case matches"),
        ((losses, "--component", "loss:mes"), "loss:mse"),
        ((losses, "--seed", "x"), "--seed takes a whole number"),
        ((losses, "--timeout", "0"), "--timeout takes a whole number"),
        ((folder / "missing.so",), "is no file"),
        ((circle,), "is no file"),
        (("--list", losses), "--list goes without a FILE"),
    ):
        made = check(*words)
        expect(made.returncode == 2 and says in made.stderr, f"{words} does not say {says!r}", made)

    # What must not be opened is refused before anything else.
    plain = folder / "plain.so"
    plain.write_text("no library")
    made = check(plain)
    expect(made.returncode == 3 and "plain.so" in made.stderr, "a file that is no library", made)
    os.chmod(elsewhere, 0o777)
    made = check(elsewhere)
    expect(made.returncode == 3 and "writ" in made.stderr, "a file that everybody may write", made)


def main():
    own_plugins()
    list_of_cases()
    with tempfile.TemporaryDirectory() as folder:
        options(pathlib.Path(folder))
    print("\n".join(problems) or "passed")
    sys.exit(1 if problems else 0)


main()
