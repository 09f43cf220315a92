"""Every file that Tenon reads or writes is as its schema says, and the schemas refuse what is not."""

import collections
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

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

# Where a planted fault may pass: anything goes there, the member need not be, the value may be of several types.
# Patterns of whole pointers: the object's for an unknown member, else the member's.
WITH = r"/(nodes/\w+|nodes/\w+/groups/\d+|(stop|observe)/\d+)/with"
EXAMPLE = r".*/example/with"
SCALAR = r"/(components/\w+|stop/\d+/state)/.+"
MAY_PASS = {
    "pipeline-1": {
        "unknown": rf"{WITH}(/.*)?",
        "missing": r"(?!/(format|name|nodes|\w+/data|fit(/(epochs|clip/norm))?|\w+/metrics)$)"
        r"(?!.*/(best/metric|match|groups/\d+/with)$)(?!/(stop|observe)/\d+/use$).*",
        "null": rf"{WITH}/.+",
        "container": rf"{WITH}/.+|/nodes/\w+/in",
        "scalar": rf"{WITH}/.+|/nodes/\w+/(in|of)|/run/threads",
        "negative": rf"{WITH}/.+",
        "empty": r"(?!/name$).*",
    },
    "environment-1": {"missing": r"/variables|/data/\w+", "empty": r"/data/\w+/fingerprint|/variables/\d+/value"},
    "log-1": {"missing": r"/values/train\.(?!waiting$).+"},
    "checkpoint-index-1": {"missing": r"/last|/best|/history/\d+/metrics/.+"},
    "checkpoint-state-1": {
        "missing": rf"/stop|/components|/provenance/data/\w+|{SCALAR}",
        "scalar": SCALAR,
        "negative": SCALAR,
        "empty": rf"/provenance/data/\w+/fingerprint|{SCALAR}",
    },
    "export-report-1": {"missing": r"/facts/data/\w+", "empty": r"/facts/data/\w+/fingerprint"},
    "crash-1": {
        "missing": r"/(detail|address|exception|thread|plugin|brings|call|step|checkpoint)|/call/sample",
        "empty": r".*/(node|component)|/exception/what",
    },
    "lock-1": {"empty": r"/plugins/\d+/build_id"},
    "plugins-doctor-1": {"empty": r"/plugins/\d+/(id|version|build_id|found)"},
    "data-check-1": {
        "missing": r".*/(cut|node|field|name|first_not_finite|sizes)|/parts/\d+/targets/\d+/(classes|ignored)"
        r"|.*/(stored|seen)/\d+/classes",
        "scalar": r".*/shape/\d+",
        "negative": r".*/(number|ignored|mean|std|deviation|min|max)(/\d+)?",
        "empty": r".*/columns/\d+/name",
    },
    "plugin-verdict-1": {"empty": r"/(code|message)"},
    "plugins-check-1": {
        "unknown": r".*/params(/.*)?",
        "missing": r".*/params/.+",
        "null": r".*/params(/.+)?",
        "container": r".*/params(/.+)?",
        "scalar": r".*/params/.+",
        "negative": r".*/params/.+",
        "empty": r".*/params/.+",
    },
    "manifest-1": {
        "unknown": rf".*/default|{EXAMPLE}(/.*)?",
        "missing": r".*/(metrics|dtype|shape|optional|like|classes|copies|except|parameters/required|example|files/\d+/(text|hex))"
        rf"|.*/parameters/properties/.*((?<!description)(?<!/type)|/properties/type)|{EXAMPLE}/.+",
        "null": rf".*/default(/.+)?|{EXAMPLE}/.+",
        "container": rf".*/default(/.+)?|{EXAMPLE}/.+",
        "scalar": rf".*/default(/.+)?|.*/shape/\d+|{EXAMPLE}/.+",
        "negative": rf".*/(default(/.+)?|(exclusiveM|m)(in|ax)imum)|{EXAMPLE}/.+",
        "empty": rf".*/default(/.+)?|.*/enum/\d+|{EXAMPLE}/.+|.*/example/files/\d+/(text|hex)",
    },
}

# Values of the right type that are wrong nevertheless: schema, pointer, value.
WRONG_VALUES = [
    ("checkpoint-manifest-1", "/files/0/sha256", "0EDFB6F179FB2DC04075A066A3D4BDDE28039E74748E26A7B91518BF1BFCCB95"),
    ("checkpoint-manifest-1", "/files/0/name", "../state.json"),
    ("checkpoint-manifest-1", "/files/0/name", "manifest.json"),
    ("checkpoint-manifest-1", "/files", []),
    ("checkpoint-manifest-1", "/format", 2),
    ("checkpoint-state-1", "/training/step", 1.5),
    ("checkpoint-state-1", "/pending", ["test"]),
    ("checkpoint-state-1", "/pipeline", "../digits"),
    ("checkpoint-state-1", "/components", {"Net": {"step": 1}}),
    ("checkpoint-state-1", "/components", {"net": {}}),
    ("checkpoint-state-1", "/provenance/device", "gpu"),
    ("checkpoint-state-1", "/provenance/libtorch", "2.11"),
    ("checkpoint-state-1", "/provenance/data", {"Train set": {"size": 1, "fingerprint": "a"}}),
    ("checkpoint-index-1", "/history/0/metrics/validate.acc", "nan"),
    ("checkpoint-index-1", "/history/0/metrics", {"acc": 0.5}),
    ("checkpoint-index-1", "/history/0/pending", ["test"]),
    ("log-1", "/event", "started"),
    ("log-1", "/values", {"acc": 0.5}),
    ("log-1", "/values/train.waiting", "NaN"),
    ("log-1", "/values/train.waiting", -0.1),
    ("log-1", "/values/train.compute", 1.5),
    ("log-1", "/values/train.loader.workers", -1),
    ("log-1", "/values/train.loss", "nan"),
    ("log-1", "/values/export.script.max_abs_error", "Infinity"),
    ("log-1", "/time", 0),
    ("lock-1", "/plugins/0/id", "losses"),
    ("lock-1", "/plugins/0/fingerprint", "cxxabi = itanium"),
    ("lock-1", "/plugins/0/version", "1.0"),
    ("lock-1", "/plugins/0/build_id", "67eb9"),
    ("lock-1", "/plugins/0/sha256", "67eb9"),
    ("lock-1", "/plugins", []),
    ("lock-1", "/device", "gpu"),
    ("lock-1", "/libtorch", "2.11"),
    ("environment-1", "/variables/0/name", "OMP NUM THREADS"),
    ("export-report-1", "/comparisons/0/shape", "float32"),
    ("export-report-1", "/comparisons/0/max_abs_error", -0.5),
    ("export-report-1", "/comparisons", []),
    ("export-report-1", "/exporter", "torchscript"),
    ("export-report-1", "/sha256", "250c65"),
    ("export-report-1", "/facts/checkpoint", "102"),
    ("export-report-1", "/facts/precision", "fp32"),
    ("manifest-1", "/id", "losses"),
    ("manifest-1", "/version", "1.0"),
    ("manifest-1", "/fingerprint", "cxxabi = itanium"),
    ("manifest-1", "/namespaces", [""]),
    ("manifest-1", "/components", []),
    ("manifest-1", "/components/0/name", "Cross entropy"),
    ("manifest-1", "/components/0/interface", "loss"),
    ("manifest-1", "/components/0/ports", {"in": [], "out": [{"open": False}]}),
    ("manifest-1", "/components/0/ports", {"in": [{"name": "x", "dtype": ["float"]}], "out": []}),
    ("manifest-1", "/components/0/parameters", {"type": "object"}),
    ("manifest-1", "/components/0/metrics", [{"name": "accuracy", "direction": "up"}]),
    ("crash-1", "/cause", "SIGTERM"),
    ("crash-1", "/found_by", "luck"),
    ("crash-1", "/thread", "loader3"),
    ("crash-1", "/call/method", "read()"),
    ("crash-1", "/call/node", "/stop/0"),
    ("crash-1", "/call/component", "crashing"),
    ("crash-1", "/frames/0/offset", "16"),
    ("crash-1", "/address", "0X1F"),
    ("plugins-doctor-1", "/plugins/0/verdict", "ill"),
    ("plugins-doctor-1", "/plugins/0/build_id", "6A71"),
    ("plugins-doctor-1", "/plugins/0/found", "today"),
    ("plugins-doctor-1", "/plugins/0/findings", [{"severity": "note", "code": "crashed", "message": "x"}]),
    ("plugins-doctor-1", "/plugins/0/findings", [{"severity": "error", "code": "It crashed", "message": "x"}]),
    ("data-check-1", "/parts/0/path", "train"),
    ("data-check-1", "/parts/0/component", "csv"),
    ("data-check-1", "/parts/0/stored/0/dtype", "float"),
    ("data-check-1", "/parts/0/stored/0/per", "row"),
    ("data-check-1", "/parts/0/stored/0/columns/0/mean", "nan"),
    ("data-check-1", "/parts/0/stored/0/shape", [""]),
    ("data-check-1", "/duplicates/0/count", 0),
    ("data-check-1", "/duplicates/0/examples", []),
    ("data-check-1", "/findings/0/code", "Label range"),
    ("data-check-1", "/findings/0/severity", "fatal"),
    ("data-check-1", "/findings/0/paths", []),
    ("data-check-1", "/exit_code", 1),
    ("plugin-verdict-1", "/plugin", "losses"),
    ("plugin-verdict-1", "/build_id", ""),
    ("plugin-verdict-1", "/host", "this one"),
    ("plugin-verdict-1", "/found", "2026-03-01"),
    ("plugins-check-1", "/plugin/id", "losses"),
    ("plugins-check-1", "/cases", []),
    ("plugins-check-1", "/cases/0/case", "Opens"),
    ("plugins-check-1", "/cases/0/component", "loss"),
    ("plugins-check-1", "/cases/0/verdict", "good"),
    ("plugins-check-1", "/summary/failed", 0.5),
    ("pipeline-1", "/run/device", "gpu"),
    ("pipeline-1", "/fit/epochs", 0),
]
NON_FINITE = [
    ("checkpoint-index-1", "/history/0/metrics/validate.acc", "NaN"),
    ("checkpoint-state-1", "/stop/0/state/best", "-Infinity"),
    ("export-report-1", "/comparisons/0/max_rel_error", "Infinity"),
]

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


def places(value, path=()):
    """Path and value of everything in a document, itself included."""
    yield path, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from places(member, (*path, name))


def pointer_of(path):
    return "".join(f"/{part}" for part in path)


def with_value(document, path, value):
    """A copy with another value at that place."""
    whole = [copy.deepcopy(document)]
    container, key = whole, 0
    for part in path:
        container, key = container[key], part
    container[key] = value
    return whole[0]


def faults(document):
    """(what, where, faulty copy) of every fault that can be planted."""
    for path, value in places(document):
        pointer = pointer_of(path)
        if isinstance(value, dict):
            yield "unknown", pointer, with_value(document, path, value | {"unplanned": None})
            for name in value:
                less = {key: member for key, member in value.items() if key != name}
                yield "missing", f"{pointer}/{name}", with_value(document, path, less)
        yield "null", pointer, with_value(document, path, None)
        yield "container", pointer, with_value(document, path, [] if isinstance(value, dict) else {})
        yield "scalar", pointer, with_value(document, path, 1 if isinstance(value, str) else "1")
        if isinstance(value, int) and not isinstance(value, bool):
            yield "negative", pointer, with_value(document, path, -1)
        if isinstance(value, str):
            yield "empty", pointer, with_value(document, path, "")


def subschemas(schema, pointer=""):
    """Pointer and content of every schema within a schema, itself included."""
    if isinstance(schema, bool):
        return
    yield pointer, schema
    for keyword in ("properties", "patternProperties", "definitions"):
        for name, inner in schema.get(keyword, {}).items():
            yield from subschemas(inner, f"{pointer}/{keyword}/{name}")
    for keyword in ("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"):
        if keyword in schema:
            yield from subschemas(schema[keyword], f"{pointer}/{keyword}")
    for keyword in ("anyOf", "allOf", "oneOf"):
        for number, inner in enumerate(schema.get(keyword, [])):
            yield from subschemas(inner, f"{pointer}/{keyword}/{number}")


def without_nulls(value):
    """What an overlay says beside what it deletes."""
    if isinstance(value, dict):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    return value


def resolved(value, variables):
    """The value with its "${vars.name}" replaced."""
    if isinstance(value, dict):
        return {key: resolved(member, variables) for key, member in value.items()}
    if isinstance(value, list):
        return [resolved(member, variables) for member in value]
    if not isinstance(value, str):
        return value
    if whole := re.fullmatch(r"\$\{vars\.(\w+)\}", value):
        return variables[whole[1]]
    return re.sub(r"\$\{vars\.(\w+)\}", lambda found: str(variables[found[1]]), value)


class Schemas(unittest.TestCase):
    def test_are_valid_draft_7(self):
        known = set(Draft7Validator.META_SCHEMA["properties"])
        for name, schema in SCHEMAS.items():
            with self.subTest(name):
                self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")
                Draft7Validator.check_schema(schema)
                found = dict(subschemas(schema))
                for pointer, inner in found.items():
                    foreign = [word for word in inner if word not in known and not word.startswith("x-")]
                    self.assertEqual(foreign, [], f"{pointer}: no keywords of draft 7")
                    self.assertIn(inner.get("$ref", "#"), {f"#{place}" for place in found}, pointer)

    def test_say_what_each_member_is_and_take_no_other(self):
        for name, schema in SCHEMAS.items():
            found = dict(subschemas(schema))
            for pointer, inner in found.items():
                if inner.get("type") != "object" or "properties" not in inner:
                    continue
                with self.subTest(name, pointer=pointer):
                    self.assertIs(inner.get("additionalProperties"), False)
                    self.assertLessEqual(set(inner.get("required", [])), set(inner["properties"]))
                    for member, content in inner["properties"].items():
                        named = found[content.get("$ref", "#").removeprefix("#")]
                        described = "description" in content or "$ref" in content and "description" in named
                        self.assertTrue(described, member)

    def test_say_the_same_of_what_three_files_hold(self):
        provenance = SCHEMAS["checkpoint-state-1"]["properties"]["provenance"]
        for other in (SCHEMAS["environment-1"], SCHEMAS["export-report-1"]["properties"]["facts"]):
            self.assertLessEqual(set(provenance["required"]), set(other["required"]))
            for name, content in provenance["properties"].items():
                self.assertEqual(other["properties"][name], content)


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        full = run(DEMO, folder / "full", "fit.epochs=2", 'nodes.sched.with.warmup="5 steps"')
        bare = run(GOOD / "small.json", folder / "bare", "fit.epochs=1")  # neither validated, tested nor exported
        cls.runs = [full, bare]
        cls.of_demo = documents_of_run(full)
        cls.of_demo += crashes(folder)
        cls.of_plugins = of_plugins(folder)
        cls.of_data = of_data(folder)
        cls.of_runs = cls.of_demo + documents_of_run(bare)
        plugins = sorted((BUILD / "lib/tenon/plugins").glob("*.so"))
        cls.manifests = [manifest_of(plugin, folder) for plugin in plugins]

    def assert_valid(self, schema, value, but=()):
        errors = [error for error in VALIDATORS[schema].iter_errors(value) if error.validator not in but]
        self.assertEqual([f"{error.json_path}: {error.message}" for error in errors], [])

    def assert_refused(self, schema, value, what):
        self.assertFalse(VALIDATORS[schema].is_valid(value), f"{schema} lets through: {what}")

    def with_pointer(self, schema, pointer, value):
        """Each document of that schema that has something at that place, with another value there."""
        found = []
        for document in self.of_demo + self.of_plugins + self.of_data + self.manifests:
            if document.schema == schema:
                paths = [path for path, _ in places(document.value) if pointer_of(path) == pointer]
                found += [with_value(document.value, path, value) for path in paths]
        self.assertTrue(found, f"no {schema} has {pointer}")
        return found

    def test_every_file_of_a_run(self):
        self.assertEqual({document.schema for document in self.of_demo}, set(RUN_FILES.values()))
        for document in self.of_runs:
            with self.subTest(document.name):
                self.assert_valid(document.schema, document.value)

    def test_what_is_told_of_plugins(self):
        self.assertEqual({document.schema for document in self.of_plugins}, OF_PLUGINS)
        for document in self.of_plugins:
            with self.subTest(document.name):
                self.assert_valid(document.schema, document.value)
        verdicts = {document.value["good"] for document in self.of_plugins if document.schema == "plugin-verdict-1"}
        self.assertEqual(verdicts, {True, False})

    def test_what_is_told_of_data(self):
        self.assertEqual({document.schema for document in self.of_data}, OF_DATA)
        for document in self.of_data:
            with self.subTest(document.name):
                self.assert_valid(document.schema, document.value)
        self.assertEqual({bool(document.value["findings"]) for document in self.of_data}, {True, False})

    def test_a_run_holds_no_json_without_a_schema(self):
        for directory in self.runs:
            known = {path for pattern in RUN_FILES for path in directory.glob(pattern)}
            self.assertEqual(set(directory.rglob("*.json*")) - known, set())

    def test_manifest_of_every_plugin(self):
        self.assertGreater(len(self.manifests), 5)
        for document in self.manifests:
            with self.subTest(document.name):
                self.assert_valid(document.schema, document.value)

    def test_every_shipped_pipeline(self):
        paths = [*DEMO.parent.glob("*.json"), *GOOD.glob("*.json"), *SOURCE.glob("sdk/examples/*/*.overlay.json")]
        self.assertGreater(len(paths), 10)
        for path in paths:
            with self.subTest(path.name):
                pipeline = read(path.read_text())
                partial = path.name.endswith(".overlay.json") or "extends" in pipeline
                self.assert_valid(
                    "pipeline-1",
                    resolved(without_nulls(pipeline), pipeline.get("vars", {})),
                    but=["required"] if partial else [],
                )

    def test_planted_faults_are_refused(self):
        refused = collections.Counter()
        seen = set()
        for document in self.of_demo + self.of_plugins + self.of_data + self.manifests:
            kind = (document.schema, document.value.get("event"))
            if document.schema not in OF_PLUGINS | OF_DATA | {"manifest-1"} and kind in seen:
                continue
            seen.add(kind)
            for what, pointer, faulty in faults(document.value):
                if not re.fullmatch(MAY_PASS.get(document.schema, {}).get(what, "(?!)"), pointer):
                    self.assert_refused(document.schema, faulty, f"{document.name}: {what} at {pointer or '/'}")
                    refused[document.schema, what] += 1
        for schema in SCHEMAS:
            for what in ("unknown", "missing", "null", "container", "scalar"):
                self.assertGreater(refused[schema, what], 0, f"{schema}, {what}")

    def test_wrong_values_are_refused(self):
        for schema, pointer, value in WRONG_VALUES:
            with self.subTest(schema, pointer=pointer, value=value):
                for each in self.with_pointer(schema, pointer, value):
                    self.assert_refused(schema, each, f"{value} at {pointer}")

    def test_what_is_not_finite_is_text(self):
        for schema, pointer, value in NON_FINITE:
            with self.subTest(schema, pointer=pointer):
                for each in self.with_pointer(schema, pointer, value):
                    self.assert_valid(schema, each)

    def test_a_log_line_holds_what_its_event_tells(self):
        for document in self.of_demo:
            if document.schema != "log-1":
                continue
            more = {"text": "more"} if "text" not in document.value else {"values": {"more": 1}}
            self.assert_refused("log-1", document.value | more, f"{document.name} with {more}")


if __name__ == "__main__":
    unittest.main()
