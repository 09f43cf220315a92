"""`tenon schema`: every pipeline that Tenon ships is taken, and what is wrong with a value is refused."""

import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from program import SOURCE, ProgramTest

CHECKER = pathlib.Path(sys.executable).parent / "check-jsonschema"
SHIPPED = sorted(SOURCE.glob("sdk/examples/pipelines/**/*.json*")) + sorted(SOURCE.glob("sdk/templates/pipelines/*.jsonc"))
OVERLAYS = sorted(SOURCE.glob("sdk/examples/**/*.overlay.json"))
GOOD = sorted(SOURCE.glob("tests/pipelines/good/*.json*"))


def without_comments(text):
    """JSON of a text with comments; strings that look like some stay."""
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.DOTALL)


def read(path):
    return json.loads(without_comments(path.read_text(encoding="utf-8-sig")))


def is_overlay(path):
    return ".overlay." in path.name or "overlays" in path.parts


# What is wrong with the demo: pointer and value; None takes it away.
MUTANTS = [
    ("/format", 2),
    ("/name", "two words"),
    ("/nodes", None),
    ("/fit", None),
    ("/fit/epochs", 0),
    ("/fit/epochs", "many"),
    ("/fit/epochs", "${epochs}"),
    ("/fit/clip", {}),
    ("/fit/clip/norm", 0),
    ("/fit/accumulate", 1.5),
    ("/fit/los", "loss"),
    ("/run/device", "gpu"),
    ("/run/seed", -1),
    ("/run/sed", 1),
    ("/nodes/Net", {"use": "model:cnn"}),
    ("/nodes/opt/use", "optimizer:adam"),
    ("/nodes/opt/use", "adamw"),
    ("/nodes/opt/use", "observer:patience"),
    ("/nodes/opt/with/lr", 0),
    ("/nodes/opt/with/lr", "0.1"),
    ("/nodes/opt/with/lr", "${vars.lr} and more"),
    ("/nodes/opt/with/lr", True),
    ("/nodes/opt/with/lr", {"env": "LR"}),
    ("/nodes/opt/with/momentum", 0.9),
    ("/nodes/opt/with", []),
    ("/nodes/opt/groups/0/with/weight_decay", -1),
    ("/nodes/opt/groups/0/with/weigth_decay", 0),
    ("/nodes/opt/groups/0/match", None),
    ("/nodes/net/with", None),
    ("/nodes/net/with/classes", None),
    ("/nodes/net/with/classes", 1),
    ("/nodes/net/with/width", 2.5),
    ("/nodes/sched/with/warmup", 50),
    ("/nodes/sched/with/warmup", "50 stps"),
    ("/nodes/sched/with/warmup", "1.5 epochs"),
    ("/nodes/train/with/batch", "big"),
    ("/nodes/train/with/shuffle", "yes"),
    ("/nodes/train_set/with/split", "training"),
    ("/nodes/shift/in", 3),
    ("/validate/every", "1 epoche"),
    ("/validate/every", "0 steps"),
    ("/validate/every", 1),
    ("/checkpoint/keep/last", 0),
    ("/checkpoint/keep/best/metric", None),
    ("/stop/0/use", "optimizer:adamw"),
    ("/stop/0/with/patience", 0),
    ("/stop/0/with/metric", None),
    ("/export", ["script", "script"]),
    ("/vars", {"Lr": 1}),
    ("/$schema", 1),
]

# Other ways to write the demo, all of which Tenon takes.
VARIANTS = [
    ("/fit/epochs", 3),
    ("/nodes/opt/with/lr", 0.5),
    ("/run/device", "${vars.device}"),
    ("/fit/clip", "${vars.clip}"),
    ("/nodes/net/with", "${vars.net}"),
    ("/nodes/net/use", "${vars.model}"),
    ("/nodes/train/with/shuffle", "${vars.shuffle}"),
    ("/nodes/sched/with/warmup", "${vars.n} steps"),
    ("/nodes/sched/with/warmup", "1e3 steps"),
    ("/nodes/sched/with/warmup", "1 epoch"),
    ("/nodes/sched/with/warmup", "20000samples"),
    ("/validate/every", ["1 epoch", "1.5 h"]),
    ("/validate/every", "${vars.every}"),
    ("/nodes/script/with/verify/batch", [1, "${vars.n}"]),
    ("/stop", "${vars.stop}"),
    ("/$schema", "./pipeline-1.schema.json"),
    ("/vars/any", {"is": ["free", None]}),
]


def changed(document, pointer, value):
    """A copy with another value at that place, or without one."""
    whole = copy.deepcopy(document)
    *path, last = pointer.split("/")[1:]
    place = whole
    for key in path:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return whole


class SchemaTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.made = {}

    def schema(self, *arguments):
        if arguments not in self.made:
            code, out, err = self.tenon("schema", *arguments)
            self.assertEqual((code, err), (0, ""))
            name = f"schema-{len(self.made)}.json"
            self.write(name, out)
            self.made[arguments] = name
        return self.made[arguments]

    def check(self, schema, documents):
        """Names of those that the schema refuses, each with what is said."""
        folder = self.folder / "documents"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        files = []
        for name, value in documents.items():
            files.append(folder / f"{name}.json")
            files[-1].write_text(json.dumps(value))
        done = subprocess.run([CHECKER, "--schemafile", schema, "-o", "json", *files], cwd=self.folder,
                              env=self.environment(), capture_output=True, text=True, timeout=120)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report.get("parse_errors", []), [])
        refused = {}
        for error in report.get("errors", []):
            refused.setdefault(pathlib.Path(error["filename"]).stem, []).append(f"{error['path']}: {error['message']}")
        return refused

    def test_it_is_a_schema(self):
        for arguments in ([], ["--overlays"], ["optimizer:adamw"]):
            done = subprocess.run([CHECKER, "--check-metaschema", self.schema(*arguments)], cwd=self.folder,
                                  env=self.environment(), capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout)
            text = (self.folder / self.schema(*arguments)).read_text()
            for target in re.findall(r'"\$ref": "#/definitions/([^"]*)"', text):
                self.assertIn(target, json.loads(text)["definitions"])
            self.assertNotIn('"x-', text)

    def with_installed(self, documents):
        """Those that use no component of an example's or a test's plugin, which is not installed."""
        listed = json.loads(self.tenon("plugins", "list", "--format", "json").out)["components"]
        names = {f"{each['kind']}:{each['name']}" for each in listed}
        return {name: value for name, value in documents.items()
                if set(re.findall(r'"use": "([^"$]*)"', json.dumps(value))) <= names}

    def test_it_takes_every_shipped_pipeline(self):
        shipped = {f"{i}-{path.stem}": read(path) for i, path in enumerate(SHIPPED) if not is_overlay(path)}
        self.assertGreater(len(shipped), 5)
        self.assertEqual(self.with_installed(shipped), shipped)
        good = {f"good-{path.stem}": read(path) for path in GOOD if not is_overlay(path)}
        self.assertGreater(len(good), 3)
        documents = shipped | self.with_installed(good)
        self.assertEqual(self.check(self.schema(), documents), {})

    def test_it_takes_every_shipped_overlay(self):
        documents = {path.name: read(path) for path in OVERLAYS}
        documents["deletes"] = {"nodes": {"sched": None, "opt": {"with": {"lr": None}}}, "stop": None, "fit": {"clip": None}}
        documents = self.with_installed(documents)
        self.assertEqual(self.check(self.schema("--overlays"), documents), {})
        self.assertEqual(set(self.check(self.schema(), documents)), set(documents))
        wrong = {"lr": {"nodes": {"opt": {"use": "optimizer:adamw", "with": {"lr": -1}}}}, "key": {"nods": {}}}
        self.assertEqual(set(self.check(self.schema("--overlays"), wrong)), set(wrong))

    def test_a_file_that_extends_another_need_not_be_complete(self):
        documents = {
            "some": {"extends": "digits.json", "vars": {"lr": 0.1}, "nodes": {"opt": {"with": {"lr": 0.1}}}},
            "less": {"extends": ["digits.json"], "nodes": {"sched": None}},
        }
        self.assertEqual(self.check(self.schema(), documents), {})
        wrong = {"key": {"extends": "digits.json", "nod": {}},
                 "lr": {"extends": "digits.json", "nodes": {"opt": {"use": "optimizer:adamw", "with": {"lr": 0}}}}}
        self.assertEqual(set(self.check(self.schema(), wrong)), set(wrong))

    def test_it_takes_all_ways_to_write_a_value(self):
        demo = json.loads((self.folder / "digits.json").read_text())
        documents = {f"{i}": changed(demo, *variant) for i, variant in enumerate(VARIANTS)}
        refused = self.check(self.schema(), documents)
        self.assertEqual({VARIANTS[int(i)]: said for i, said in refused.items()} if refused else {}, {})

    def test_it_refuses_every_mutant_at_its_place(self):
        demo = json.loads((self.folder / "digits.json").read_text())
        documents = {f"{i}": changed(demo, *mutant) for i, mutant in enumerate(MUTANTS)}
        refused = self.check(self.schema(), documents)
        self.assertEqual([mutant for i, mutant in enumerate(MUTANTS) if f"{i}" not in refused], [])
        for i, (pointer, _) in enumerate(MUTANTS):
            # The place itself, or what should hold it.
            first = ".".join(pointer.split("/")[1:3][:1])
            self.assertTrue(any(said.startswith(("$:", "$." + first)) or first == "$schema" for said in refused[f"{i}"]),
                            refused[f"{i}"])

    def test_every_value_that_the_schema_refuses_tenon_refuses_too(self):
        demo = json.loads((self.folder / "digits.json").read_text())
        for mutant in MUTANTS:
            if mutant[0] == "/$schema":  # which Tenon does not read
                continue
            with self.subTest(mutant=mutant):
                self.write("mutant.json", json.dumps(changed(demo, *mutant)))
                self.assertEqual(self.tenon("check", "mutant.json").code, 2)

    def test_each_component_and_each_of_its_parameters_is_explained(self):
        schema = json.loads((self.folder / self.schema()).read_text())
        components = json.loads(self.tenon("plugins", "list", "--format", "json").out)["components"]
        offered = {each["const"]: each["description"] for name in ("node", "attached")
                   for each in schema["definitions"][name]["properties"]["use"]["anyOf"] if "const" in each}
        self.assertEqual(offered, {f"{each['kind']}:{each['name']}": each["summary"] for each in components})
        for name in offered:
            for parameter, said in schema["definitions"][f"with:{name}"]["properties"].items():
                self.assertTrue(said["description"], f"{name} {parameter}")
        lr = schema["definitions"]["with:optimizer:adamw"]["properties"]["lr"]
        self.assertEqual(lr["description"], "Learning rate\nnumber > 0, default 0.001, can be scheduled")
        self.assertEqual(lr["default"], 0.001)
        warmup = schema["definitions"]["with:schedule:cosine"]["properties"]["warmup"]
        self.assertEqual(warmup["examples"], ["500 steps"])

    def test_a_component_alone(self):
        for name in ("optimizer:adamw", "adamw"):
            schema = self.schema(name)
            documents = {"good": {"lr": 0.1}, "variable": {"lr": "${vars.lr}"}, "empty": {}}
            self.assertEqual(self.check(schema, documents), {})
            wrong = {"key": {"rl": 0.1}, "value": {"lr": -1}, "type": [1]}
            self.assertEqual(set(self.check(schema, wrong)), set(wrong))
        self.assertEqual(set(self.check(self.schema("model:cnn"), {"empty": {}, "good": {"classes": 3}})), {"empty"})

    def test_a_component_within_another_has_its_own_parameters(self):
        inner = {"use": "transform:to_float", "with": {"max": 16}}
        documents = {"good": {"transform": inner}, "variable": {"transform": "${vars.inner}"},
                     "deep": {"transform": {"use": "transform:sometimes", "with": {"transform": inner}}}}
        self.assertEqual(self.check(self.schema("transform:sometimes"), documents), {})
        wrong = {"kind": {"transform": {"use": "loss:mse"}}, "none": {}, "text": {"transform": "transform:to_float"},
                 "value": {"transform": {"use": "transform:to_float", "with": {"max": 0}}},
                 "key": {"transform": {"use": "transform:to_float", "wit": {}}},
                 "deep": {"transform": {"use": "transform:sometimes", "with": {"transform": {"use": "model:cnn"}}}}}
        self.assertEqual(set(self.check(self.schema("transform:sometimes"), wrong)), set(wrong))

    def test_it_is_written_to_a_file_and_replaces_its_own_kind_alone(self):
        code, out, err = self.tenon("schema", "--out", "s.json")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^s\.json: schema of \d+ components\n$")
        first = (self.folder / "s.json").read_text()
        self.assertEqual(first, (self.folder / self.schema()).read_text())
        self.assertEqual(self.tenon("schema", "sgd", "--out", "s.json").out, "s.json: schema of optimizer:sgd\n")
        self.assertNotEqual((self.folder / "s.json").read_text(), first)
        before = (self.folder / "digits.json").read_text()
        self.write("text.json", "no JSON")
        (self.folder / "folder.json").mkdir()
        for name in ("digits.json", "text.json", "folder.json"):
            code, out, err = self.tenon("schema", "--out", name)
            self.assertEqual((code, out), (2, ""), err)
        self.assertEqual((self.folder / "digits.json").read_text(), before)

    def test_mistaken_calls(self):
        for arguments, code, wanted in (
            (["optimizer:adam"], 2, 'did you mean "optimizer:adamw"?'),
            (["xyzzy"], 2, "tenon plugins list"),
            (["adamw", "sgd"], 2, "one argument too many"),
            (["adamw", "--overlays"], 2, "--overlays goes without COMPONENT"),
            (["--out", ""], 2, "--out needs the name of a file"),
            (["--out", "no/such/s.json"], 10, "No such file or directory"),
            (["--overlay", "x.json"], 2, 'did you mean "--overlays"?'),
        ):
            with self.subTest(arguments=arguments):
                done = self.tenon("schema", *arguments)
                self.assertEqual((done.code, done.out), (code, ""))
                self.assertIn(wanted, done.err)



if __name__ == "__main__":
    if not CHECKER.exists():
        print("skipped: this Python has no check-jsonschema; `./dev test` installs it")
        sys.exit(77)
    unittest.main()
