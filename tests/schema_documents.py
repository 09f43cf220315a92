"""The schemas, and documents that ought to be as they say: of runs, of plugins, of data. Imported by tests, it ends their
script where Python has no jsonschema."""

import collections
import json
import os
import pathlib
import subprocess
import sys

try:
    from jsonschema import Draft7Validator
except ImportError:
    print("skipped: this Python has no jsonschema; `./dev test` installs it")
    sys.exit(77)

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
PROGRAM = BUILD / "bin" / "tenon"
DEMO = SOURCE / "sdk/examples/pipelines/digits.json"
GOOD = SOURCE / "tests/pipelines/good"

# Each file of a run directory, and the schema that it, or each of its lines, follows.
RUN_FILES = {
    "config.resolved.json": "pipeline-1",
    "environment.json": "environment-1",
    "lock.json": "lock-1",
    "log.jsonl": "log-1",
    "checkpoints/index.json": "checkpoint-index-1",
    "checkpoints/*/manifest.json": "checkpoint-manifest-1",
    "checkpoints/*/state.json": "checkpoint-state-1",
    "exports/*.report.json": "export-report-1",
    "crash*.json": "crash-1",
}

# What is told of data.
OF_DATA = {"data-check-1"}

# What commands tell of plugins, and files of the cache.
OF_PLUGINS = {"plugins-doctor-1", "plugins-check-1", "plugin-verdict-1"}

Document = collections.namedtuple("Document", "name schema value")


def read(text):
    """JSON without what only Python takes for it: NaN as a number, members that are there twice."""

    def members(pairs):
        value = dict(pairs)
        if len(value) != len(pairs):
            raise ValueError(f"a member is there twice: {[name for name, _ in pairs]}")
        return value

    def constant(word):
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, object_pairs_hook=members, parse_constant=constant)


SCHEMAS = {
    path.name.removesuffix(".schema.json"): read(path.read_text()) for path in SOURCE.glob("schemas/*.schema.json")
}
VALIDATORS = {name: Draft7Validator(schema) for name, schema in SCHEMAS.items()}


def run(pipeline, folder, *sets, options=(), expect=0):
    """The directory of a run of that pipeline."""
    arguments = [PROGRAM, "run", pipeline, *options, "--set", f'run.dir="{folder}"']
    for each in sets:
        arguments += ["--set", each]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode != expect:
        raise RuntimeError(f"{pipeline} ended with {done.returncode}: {done.stderr}")
    (made,) = folder.glob("*/0001")
    return made


def documents_of_run(directory):
    found = []
    for pattern, schema in RUN_FILES.items():
        for path in sorted(directory.glob(pattern)):
            lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
            name = str(path.relative_to(directory))
            found += [Document(f"{name}:{number}", schema, read(line)) for number, line in enumerate(lines, 1)]
    return found


def crashes(folder):
    """Reports of two crashes, of a loader thread and of an exception."""
    found = []
    for kind, method, fault, sets in (
        ("dataset", "read", "null", ["nodes.shift.in=\"train_set\""]),
        ("optimizer", "step", "noexcept", []),
    ):
        name = {"dataset": "train_set", "optimizer": "opt"}[kind]
        trap = {"trap": {"in": method, "fault": fault, "after": 3}}
        node = {"use": f"{kind}:crashing", "with": trap} | ({"of": "net"} if kind == "optimizer" else {})
        options = ["--no-preflight", "--plugin-path", BUILD / "tests/plugins"]
        directory = run(DEMO, folder / kind, f"nodes.{name}={json.dumps(node)}", *sets, options=options, expect=3)
        found += [each for each in documents_of_run(directory) if each.schema == "crash-1"]
    return found


def of_plugins(folder):
    """What is told of good plugins, of a file that is none, and of one that ends the process."""
    plugins, raw = folder / "plugins", BUILD / "tests/bad_plugins"
    plugins.mkdir(mode=0o755)
    (plugins / "text.so").write_text("no library")
    added = f".tenon.manifest={raw / 'good.json'}"
    subprocess.run(["objcopy", "--add-section", added, raw / "aborts.so", plugins / "aborts.so"], timeout=60, check=True)
    cache = folder / "cache"
    environment = os.environ | {"TENON_CACHE": str(cache)}

    def told(*words, expect):
        words = [PROGRAM, "plugins", *words, "--format", "json"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False, env=environment)
        if done.returncode != expect:
            raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr}")
        return read(done.stdout)

    found = [Document("plugins doctor", "plugins-doctor-1", told("doctor", "--plugin-path", plugins, expect=3))]
    found += [Document(f"verdicts/{each.name}", "plugin-verdict-1", read(each.read_text()))
              for each in sorted((cache / "verdicts").iterdir())]
    planted = BUILD / "tests/plugins/planted/tenon_planted.so"
    for words, expect in (
        ((BUILD / "lib/tenon/plugins/tenon_losses.so", "--component", "loss:mse"), 0),
        ((planted, "--component", "loss:ignores_parameter"), 3),
        ((planted, "--component", "optimizer:forgets"), 3),
    ):
        found.append(Document(f"plugins check {words[-1]}", "plugins-check-1", told("check", *words, expect=expect)))
    return found


def of_data(folder):
    """What is told of the demo's data, and of a table with faults of many sorts."""
    folder = folder / "data"
    folder.mkdir()
    rows = [f"{i % 7}.5,3,{i % 3}" for i in range(40)] + ["1.5,3,3"]
    (folder / "train.csv").write_text("\n".join(["length,width,label", *rows, ""]))
    (folder / "val.csv").write_text("\n".join(["length,width,label", *rows[:5], ""]))
    fields = [{"name": "x", "columns": ["length", "width"]}, {"name": "label", "type": "integer"}]
    nodes = {
        "train_set": {"use": "dataset:csv", "with": {"path": "train.csv", "fields": fields}},
        "val_set": {"use": "dataset:csv", "with": {"path": "val.csv", "fields": fields}},
        "more": {"use": "transform:noise", "in": "train_set", "with": {"shape": [2]}},
        "both": {"use": "transform:concat", "in": "more",
                 "with": {"fields": ["x", "noise"], "into": "both", "keep": True}},
        "train": {"use": "loader:threads", "in": "both", "with": {"batch": 8}},
        "val": {"use": "loader:threads", "in": "val_set", "with": {"batch": 8}},
        "net": {"use": "model:mlp", "in": {"x": "batch.x"}, "with": {"input": "x", "classes": 3}},
        "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.label"}},
        "acc": {"use": "metric:accuracy", "in": {"logits": "net.logits", "target": "batch.label"}},
        "opt": {"use": "optimizer:sgd", "of": "net"},
    }
    (folder / "faulty.json").write_text(json.dumps({
        "format": 1, "name": "faulty", "nodes": nodes, "fit": {"data": "train", "loss": "loss", "epochs": 1},
        "validate": {"data": "val", "metrics": ["acc"]}}))
    found = []
    for pipeline, expect in ((DEMO, 0), (folder / "faulty.json", 4)):
        words = [PROGRAM, "data", "check", pipeline, "--format", "json"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False, cwd=folder)
        if done.returncode != expect:
            raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr}")
        found.append(Document(f"data check {pipeline.name}", "data-check-1", read(done.stdout)))
    return found


def manifest_of(plugin, folder):
    dumped = folder / "manifest.json"
    subprocess.run(
        ["objcopy", "--dump-section", f".tenon.manifest={dumped}", plugin, folder / "copy.so"], timeout=60, check=True
    )
    return Document(plugin.name, "manifest-1", read(dumped.read_text()))
