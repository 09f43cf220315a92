"""Runs of a small pipeline that can be stopped, and what they leave."""

import json
import os
import pathlib
import re
import subprocess

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
PROGRAM = BUILD / "bin" / "tenon"
DEMO = SOURCE / "sdk" / "examples" / "pipelines" / "digits.json"
TIME_LIMIT = 120  # seconds: far more than any run here takes

PREEMPTED = 75


def pipeline(folder, *, model="mlp", validate="1 epoch", checkpoint="1 epoch", epochs=3, keep=None, patience=50,
             lr=0.002, loader=None, change=None):
    """Writes a pipeline with augmentation, dropout, accumulation and a cosine schedule: 12 steps an epoch.

    `change` is a function that gets the whole before it is written.
    """
    value = json.loads(DEMO.read_text())
    nodes = value["nodes"]
    del nodes["script"], value["export"]
    value["vars"] = {"epochs": epochs, "lr": lr}
    nodes["train"]["with"] |= {"batch": 32, "workers": 2} | (loader or {})
    nodes["sched"]["with"]["warmup"] = "5 steps"
    options = {"mlp": {"hidden": [48], "dropout": 0.2}, "cnn": {"width": 8, "dropout": 0.2}}
    nodes["net"] = {"use": f"model:{model}", "in": {"image": "batch.image"}, "with": {"classes": 10} | options[model]}
    value["fit"]["accumulate"] = 3
    value["validate"]["every"] = validate
    value["checkpoint"] = {"every": checkpoint,
                           "keep": keep or {"last": 2, "best": {"metric": "acc", "count": 1}}}
    value["stop"][0]["with"]["patience"] = patience
    if change is not None:
        change(value)
    file = pathlib.Path(folder) / "pipeline.json"
    file.write_text(json.dumps(value, indent=2))
    return file


def command(file, runs, *options):
    return [str(part) for part in
            (PROGRAM, "run", file, "--set", f"run.dir={json.dumps(str(runs))}", "--set", "observe=[]", *options)]


def run(file, runs, *options, expect=0):
    """Runs to the end; gives what the run says of itself, and standard error."""
    outcome = pathlib.Path(runs).with_suffix(".outcome.json")
    outcome.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command(file, runs, "--outcome", outcome, *options), capture_output=True, text=True,
                          timeout=TIME_LIMIT, check=False)
    if done.returncode != expect:
        raise AssertionError(f"exit {done.returncode} instead of {expect}: {done.stderr}")
    return (json.loads(outcome.read_text()) if expect in (0, PREEMPTED) else None), done.stderr


def different_files(one, other):
    """Names of files that two folders do not share or that differ in a byte, and the bytes that were compared."""
    one, other = pathlib.Path(one), pathlib.Path(other)
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir()})
    different, compared = [], 0
    for name in names:
        if not (one / name).is_file() or not (other / name).is_file():
            different.append(name)
            continue
        left, right = (one / name).read_bytes(), (other / name).read_bytes()
        compared += len(left)
        if left != right:
            different.append(name)
    return different, compared


def log_lines(directory):
    return [json.loads(line) for line in (pathlib.Path(directory) / "log.jsonl").read_text().splitlines()]


MEASURED = ("train.waiting", "train.copy", "train.compute", "train.loader.workers", "train.loader.samples_per_second")


def comparable_log(directory, stops=()):
    """The log without times and places; of `stops`, steps at which a run was stopped, without what tells of that."""
    lines = []
    for line in log_lines(directory):
        if line["event"] in ("run_start", "message", "timing"):
            continue
        if line["event"] == "checkpoint" and line["step"] in stops:
            continue
        del line["time"]
        for key in MEASURED:
            line.get("values", {}).pop(key, None)
        line["text"] = re.sub(r"^/.*/digits/\d{4}", "RUN", line.get("text", ""))
        lines.append(line)
    return lines


def temporaries(directory):
    """What a process that was killed must not leave behind once another has gone on."""
    return [str(path) for path in pathlib.Path(directory).rglob(".*") if path.name != ".lock"]


def newest_run(runs):
    """The run directory of the highest number, or nothing."""
    return max(pathlib.Path(runs).glob("digits/[0-9]*"), default=None)


def last_event(directory):
    """Event, step and time of the log's last complete line; nothing happened at 0 before the first."""
    log = directory / "log.jsonl" if directory else None
    text = log.read_text() if log and log.exists() else ""
    lines = text[: text.rfind("\n") + 1].splitlines()
    line = json.loads(lines[-1]) if lines else {"event": "nothing", "step": 0, "time": 0}
    return line["event"], line["step"], line["time"]


def newest_checkpoint(runs):
    """The checkpoint from which --resume auto goes on; nothing when that begins a new run."""
    directory = newest_run(runs)
    if directory is None or last_event(directory)[0] == "run_end":
        return None
    complete = [path for path in directory.glob("checkpoints/step-*") if path.name.removeprefix("step-").isdigit()]
    return max(complete, key=lambda path: int(path.name.removeprefix("step-")), default=None)


def position(checkpoint):
    """Step, and epoch and batch of the data, at which a run goes on from a checkpoint; those of a new run for none."""
    if checkpoint is None:
        return 0, (0, 0)
    training = json.loads((checkpoint / "state.json").read_text())["training"]
    return training["step"], (training["epoch"], training["batch"])


def newest_checkpoint_step(runs):
    """The step at which --resume auto goes on: 0 for a new run."""
    return position(newest_checkpoint(runs))[0]


def listens(process, number):
    """Whether a process has a handler of its own for a signal by now."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    caught = re.search(r"^SigCgt:\s*(\w+)$", status, re.MULTILINE)
    return bool(caught) and bool(int(caught[1], 16) >> (number - 1) & 1)
