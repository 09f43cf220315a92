"""Every file that Tenon reads or writes is as its schema says, and the schemas refuse what is not."""

import collections
import pathlib
import re
import tempfile
import unittest

from schema_documents import (
    BUILD, DEMO, GOOD, OF_DATA, OF_PLUGINS, RUN_FILES, SCHEMAS, SOURCE, VALIDATORS, crashes, documents_of_run, manifest_of,
    of_data, of_plugins, read, run,
)
from schema_faults import MAY_PASS, NON_FINITE, WRONG_VALUES, faults, kind_of_place, places, pointer_of, with_value


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
            planted = set()
            for what, pointer, faulty in faults(document.value):
                place = (what, kind_of_place(pointer))
                if place in planted or re.fullmatch(MAY_PASS.get(document.schema, {}).get(what, "(?!)"), pointer):
                    continue
                planted.add(place)
                self.assert_refused(document.schema, faulty(), f"{document.name}: {what} at {pointer or '/'}")
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
