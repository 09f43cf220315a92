"""Each planted fault is found by the case that is meant for it, and nothing else is found."""

import json
import os
import pathlib
import subprocess
import sys
import time

os.umask(0o022)  # a plugin that its group may write to is not trusted

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
TENON = BUILD / "bin/tenon"
PLANTED = BUILD / "tests/plugins/planted"

# Component: the cases that must fail, and what a message must say.
FAULTS = {
    "transform:sound": {},
    "transform:global_random": {"determinism.stream": "rand()"},
    "transform:static_random": {
        "determinism.seed": "different results",
        "state.restored": "goes on differently",
        "threads.concurrent": "other results than on one",
    },
    "transform:shared_scratch": {"threads.concurrent": "other results than on one"},
    "transform:against_spec": {"transform.outputs": "float64"},
    "transform:writes_input": {"transform.input": "in place"},
    "transform:foreign_exception": {"errors.type": "throws int"},
    "transform:hangs": {"errors.type": "ended after"},
    "transform:divides_by_zero": {"parameters.fuzz": "SIGABRT", "parameters.used": "SIGABRT"},
    "transform:refuses_only": {"parameters.used": "has no effect"},
    "transform:cut": {},
    "transform:draws_again": {"transform.cutting": "another sample than apply()"},
    "transform:sum": {},
    "transform:clears_others": {"transform.multi-sample": "changed in place"},
    "dataset:images": {},
    "dataset:views_another": {"dataset.in-memory": "not what read() gives"},
    "dataset:cuts_beside": {"dataset.partial-read": "not what the whole has there"},
    "dataset:mixes_labels": {"dataset.columns": 'column "label"'},
    "dataset:renames_items": {"dataset.item-names": 'is called "image 0", and then'},
    "optimizer:forgets": {"state.restored": "goes on differently"},
    "loss:ignores_parameter": {"parameters.used": '"unused" has no effect'},
    "loss:wrong_gradient": {"loss.gradcheck": "backward says"},
    "metric:leaks": {"memory.cycles": "bytes behind"},
    "model:baked": {"model.trace": "batch of 4"},
    "schedule:counts_calls": {"schedule.repeated": "asked twice"},
    "schedule:crashes": {"state.damaged": "SIGABRT"},
}


def check(file, *options):
    begin = time.monotonic()
    made = subprocess.run([TENON, "plugins", "check", file, "--format", "json", *options], capture_output=True, text=True)
    return made, time.monotonic() - begin


def main():
    problems = []
    made, seconds = check(PLANTED / "tenon_planted.so", "--timeout", "4")
    if made.returncode != 3:
        sys.exit(f"exit {made.returncode} instead of 3: {made.stderr}")
    found = {}
    for case in json.loads(made.stdout)["cases"]:
        messages = [each["message"] for each in case["findings"] if each["severity"] == "error"]
        if case["verdict"] == "failed":
            found.setdefault(case["component"], {})[case["case"]] = " ".join(messages)
            if not all(each["cure"] for each in case["findings"]):
                problems.append(f"{case['case']} of {case['component']} names no cure")
    for component, expected in FAULTS.items():
        got = found.pop(component, {})
        if got.keys() != expected.keys():
            problems.append(f"{component}: {json.dumps(got)} failed instead of {sorted(expected)}")
        for case, text in expected.items():
            if text not in got.get(case, text):
                problems.append(f"{component}: {case} does not say {text!r}: {got[case]}")
    if found:
        problems.append(f"failures of others: {json.dumps(found)}")

    for name, word in (("older", "older"), ("newer", "newer")):
        made, _ = check(PLANTED / f"tenon_{name}.so")
        failed = [each for each in json.loads(made.stdout)["cases"] if each["verdict"] == "failed"]
        if made.returncode != 3 or [each["case"] for each in failed] != ["manifest.revision"]:
            problems.append(f"{name}: exit {made.returncode}, {failed}")
        elif f"is {word} than this Tenon's revision" not in failed[0]["findings"][0]["message"]:
            problems.append(f"{name}: {failed[0]}")

    print(f"{len(FAULTS)} components with planted faults in {seconds:.1f} s")
    print("\n".join(problems) or "all are found, and nothing else")
    sys.exit(1 if problems else 0)


main()
