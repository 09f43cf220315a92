"""Faults to plant in documents that are as their schemas say, and where one may pass."""

import copy
import re

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


def kind_of_place(pointer):
    """Alike for places that the same part of a schema is about: elements of a list, parameters of components."""
    return re.sub(r"/\d+(?=/|$)", "/*", re.sub(r"/properties/[^/]+", "/properties/*", pointer))


def faults(document):
    """(what, where, a function that gives the faulty copy) of every fault that can be planted."""

    def fault(what, path, value, of=None):
        return what, pointer_of(path if of is None else (*path, of)), lambda: with_value(document, path, value)

    for path, value in places(document):
        if isinstance(value, dict):
            yield fault("unknown", path, value | {"unplanned": None})
            for name in value:
                yield fault("missing", path, {key: member for key, member in value.items() if key != name}, of=name)
        yield fault("null", path, None)
        yield fault("container", path, [] if isinstance(value, dict) else {})
        yield fault("scalar", path, 1 if isinstance(value, str) else "1")
        if isinstance(value, int) and not isinstance(value, bool):
            yield fault("negative", path, -1)
        if isinstance(value, str):
            yield fault("empty", path, "")
