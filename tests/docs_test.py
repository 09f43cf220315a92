"""What the documentation shows can be done as shown: its pipelines hold, its commands exist, its links lead somewhere."""

import csv
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["TENON_SOURCE_DIR"]) / "tests" / "hosts" / "tenon"))

from program import COMMANDS, SOURCE, ProgramTest  # noqa: E402

README = SOURCE / "README.md"
DOCS = sorted((SOURCE / "sdk" / "docs").rglob("*.md"))
# Their pipelines need the plugins that they build: sdk/guide_test.py runs them.
GUIDE = [page for page in DOCS if page.name == "plugins.md" or page.parent.name == "kinds"]
PAGES = [README, *DOCS, *sorted((SOURCE / "sdk" / "examples").glob("**/*.md"))]
SDK = SOURCE / "sdk"


def blocks(page, language):
    """Number of the first line, and text, of each fenced block of that language."""
    text = page.read_text()
    for found in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start(1)) + 1, found[1]


def without_fences(page):
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def is_pipeline(block):
    return re.search(r'^  "(format|extends)":', block, re.MULTILINE) is not None


def name_of(block):
    """A pipeline's file, which its first line names: // digits.jsonc"""
    return re.match(r"// ([\w.-]+\.jsonc)\n", block)[1]


def command_lines(page, sentences=True):
    """The words behind "tenon" of every command that a page shows, indented or, if asked for, within a sentence."""
    text = page.read_text()
    shown = re.findall(r"^    (?:\S*/)?tenon (.+)$", text, re.MULTILINE)
    if sentences:
        shown += [" ".join(code.split()) for code in re.findall(r"`tenon ([^`]+)`", without_fences(page))]
    return [shlex.split(line, comments=True) for line in shown]


def anchors(page):
    """Anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", without_fences(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def keys_of(schema):
    """Every key that a schema knows."""
    if isinstance(schema, dict):
        for name, member in schema.items():
            if name == "properties":
                yield from member
            yield from keys_of(member)
    elif isinstance(schema, list):
        for member in schema:
            yield from keys_of(member)


class DocsTest(ProgramTest):
    def write_table(self, name, columns, rows):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])

    def write_array(self, name, descr, shape, data):
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)

    def write_data(self):
        """The files that the pages speak of, with something in them to learn."""
        draw = random.Random(1)
        kinds = [("setosa", 1.0), ("versicolor", 4.0), ("virginica", 6.0)]
        flowers = [[round(size + draw.gauss(0, 0.3), 2) for _ in range(4)] + [kind] for kind, size in kinds * 40]
        measures = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
        self.write_table("flowers.csv", [*measures, "species"], flowers)
        self.write_table("new-flowers.csv", measures, [row[:4] for row in flowers[:7]])

        houses = [[draw.randint(40, 200), draw.randint(1, 7), draw.randint(0, 80)] for _ in range(200)]
        houses = [[*row, 50000 + 2500 * row[0] + 8000 * row[1] - 900 * row[2]] for row in houses]
        self.write_table("houses.csv", ["area", "rooms", "age", "price"], houses)
        self.write_table("new-houses.csv", ["area", "rooms", "age"], [row[:3] for row in houses[:7]])

        events = [draw.randint(0, 1) for _ in range(200)]
        signals = [draw.gauss(event, 1) for event in events for _ in range(32)]
        self.write_array("signals.npy", "<f4", (200, 2, 16), struct.pack("<6400f", *signals))
        self.write_array("events.npy", "<i8", (200,), struct.pack("<200q", *events))

        for number in (1, 2):
            words = (draw.choice(("the", "quick", "brown", "fox", "jumps", "over", "dogs")) for _ in range(4000))
            self.write(f"wiki-{number}.txt", " ".join(words) + "\n")

    def pipelines_of(self, page):
        """The arguments that name each pipeline of a page: a file, or the page's first one with a block as overlay."""
        files = []
        for number, (line, block) in enumerate(blocks(page, "jsonc")):
            if is_pipeline(block):
                files.append(self.write(name_of(block), block))
                yield line, [files[-1]]
            else:
                yield line, [files[0], "--overlay", self.write(f"overlay{number}.jsonc", block)]

    def short_run(self, *arguments):
        short = ["fit.epochs=2", "fit.limit=2", "run.threads=1"]
        return self.tenon("run", *arguments, "--quiet", *(word for each in short for word in ("--set", each)))

    def test_every_pipeline_and_every_overlay_of_the_pages_is_without_fault_and_runs(self):
        self.write_data()
        counted = 0
        for page in [page for page in DOCS if page not in GUIDE]:
            for line, arguments in self.pipelines_of(page):
                with self.subTest(page=page.name, line=line):
                    if "teacher.safetensors" in (self.folder / arguments[-1]).read_text():
                        teacher = next(self.folder.glob("runs/digits/*/checkpoints/*/model.net.safetensors"))
                        shutil.copy(teacher, self.folder / "teacher.safetensors")
                    checked = self.tenon("check", *arguments)
                    self.assertEqual((checked.code, checked.err), (0, ""))
                    ran = self.short_run(*arguments)
                    self.assertEqual(ran.code, 0, ran.err)  # an observer may have been asked for, and shows the run
                    counted += 1
        self.assertGreaterEqual(counted, 20)

    def test_a_fault_in_a_block_is_found(self):
        page = self.folder / "page.md"
        text = (SOURCE / "sdk/docs/pipelines.md").read_text()
        self.assertEqual(text.count('"net.head.*"'), 1)
        page.write_text(text.replace('"net.head.*"', '"net.tail.*"'))
        codes = [self.short_run(*arguments).code for _, arguments in self.pipelines_of(page)
                 if "net.tail" in (self.folder / arguments[-1]).read_text()]
        self.assertEqual(codes, [2])

    def test_the_nodes_that_pages_show_have_components_and_parameters_that_there_are(self):
        counted = 0
        for page in (SDK / "docs" / name for name in ("datasets.md", "images.md", "loader.md")):
            for line, block in blocks(page, "json"):
                if not re.match(r'"\w+":\s*\{ "use"', block):
                    block = '"shown": { "use": "loader:threads", "in": "x", ' + self.parameters_of(block) + " }"
                file = self.write("nodes.jsonc", '{ "format": 1, "name": "nodes", "nodes": {' + block.rstrip().rstrip(",") + "} }")
                lines = self.tenon("check", file, "--format", "json")
                found = [json.loads(each) for each in (lines.err + lines.out).splitlines()]
                found = [each for each in found if each.get("$message_type") == "diagnostic"]
                wrong = {"unknown-component", "unknown-key", "wrong-type", "missing-key", "out-of-range"}
                with self.subTest(page=page.name, line=line):
                    self.assertEqual([each["message"] for each in found if each["code"]["code"] in wrong
                                      and (each["pointer"] or "").startswith("/nodes/")], [])
                    self.assertNotIn("syntax", {each["code"]["code"] for each in found})
                counted += 1
        self.assertGreater(counted, 12)

    @staticmethod
    def parameters_of(block):
        """A block that shows some parameters of a loader, or all of them."""
        return block if block.startswith('"with"') else '"with": { "batch": 8, ' + block + " }"

    def test_the_pipelines_about_data_train_and_predict(self):
        self.write_data()
        for _, (file, *_) in self.pipelines_of(SOURCE / "sdk/docs/data.md"):
            with self.subTest(file):
                name = file.removesuffix(".jsonc")
                ran = self.tenon("run", file, "--quiet", "--set", "fit.epochs=8", "--set", "run.threads=1")
                self.assertEqual((ran.code, ran.err), (0, ""))
                if '"predict"' not in (self.folder / file).read_text():
                    continue
                made = self.tenon("predict", f"runs/{name}/0001", "--input", f"new-{name}.csv", "--format", "csv")
                self.assertEqual((made.code, made.err), (0, ""))
                self.assertEqual(len(made.out.splitlines()), 1 + 7)

    def test_the_first_steps_of_the_readme_lead_from_a_table_to_predictions(self):
        text = README.read_text()
        section = text[text.index("## Your own data") :]
        section = section[: section.index("\n## ")]
        draw = random.Random(2)
        kinds = [("bream", 1.0), ("perch", 4.0), ("roach", 6.0)]
        rows = [[round(size + draw.gauss(0, 0.3), 2) for _ in range(3)] + [kind] for kind, size in kinds * 40]
        self.write_table("data.csv", ["length", "width", "weight", "species"], rows)
        self.write_table("new.csv", ["length", "width", "weight"], [row[:3] for row in rows[:9]])
        done = []
        for line in re.findall(r"^    tenon (.+)$", section, re.MULTILINE):
            words = shlex.split(line, comments=True)
            outcome = self.tenon(*words)
            self.assertEqual(outcome.code, 0, f"{line}\n{outcome.err}")
            done.append((words[0], outcome))
        self.assertEqual([name for name, _ in done], ["init", "check", "graph", "run", "predict"])
        for name, outcome in done[1:]:
            self.assertNotIn("warning", outcome.err, name)
        lines = done[-1][1].out.splitlines()
        self.assertEqual(len(lines), 1 + 9)
        self.assertEqual([line.split(",")[1] for line in lines[1:4]], ["bream", "perch", "roach"])

    def test_the_page_of_commands_can_be_followed_line_by_line(self):
        self.write_data()
        list(self.pipelines_of(SOURCE / "sdk/docs/data.md"))
        shutil.copy(self.folder / "houses.jsonc", self.folder / "other.jsonc")
        counted = 0
        for words in command_lines(SOURCE / "sdk/docs/commands.md", sentences=False):
            if "--svg" in words and shutil.which("dot") is None:
                continue
            with self.subTest(" ".join(words)):
                if ">" in words:
                    words = words[: words.index(">")]
                outcome = self.tenon(*words)
                self.assertEqual(outcome.code, 0, outcome.err)
                counted += 1
        self.assertGreater(counted, 20)

    def test_commands_and_options_exist(self):
        pages = {}
        counted = 0
        for page in PAGES:
            for words in command_lines(page):
                if words[0].isupper() or words[0].startswith("-"):  # tenon COMMAND --help, tenon --version
                    continue
                with self.subTest(page=page.name, words=" ".join(words)):
                    named = [name for name in COMMANDS if words[: len(name.split())] == name.split()]
                    family = [name for name in COMMANDS if name.split()[0] == words[0]]
                    self.assertTrue(named or (family and len(words) == 1), "there is no such command")
                    if not named:
                        continue
                    if named[0] not in pages:
                        pages[named[0]] = self.tenon("help", *named[0].split()).out
                    known = re.findall(r"^  (--[\w-]+)", pages[named[0]], re.MULTILINE)
                    for word in words:
                        if word.startswith("--"):
                            self.assertIn(word.split("=")[0], known)
                    counted += 1
        self.assertGreater(counted, 50)
        self.assertEqual(set(COMMANDS) - set(pages), set(), "shown nowhere")

    def components(self):
        """Names of all components by kind, and those of each plugin."""
        told = json.loads(self.tenon("plugins", "list", "--format", "json").out)
        self.assertEqual(told["refused"], [])
        by_kind, by_plugin = {}, {}
        for each in told["components"]:
            by_kind.setdefault(each["kind"], []).append(each["name"])
            by_plugin.setdefault(each["plugin"], set()).add(each["name"])
        return by_kind, by_plugin

    def test_the_readme_lists_every_component_and_no_other(self):
        text = README.read_text()
        section = text[text.index("## Kinds and components") : text.index("\n## Layout")]
        listed = {}
        for kind, names in re.findall(r"^\| (\w+)[^|]*\|[^|]*\| (.*) \|$", section, re.MULTILINE):
            for example in re.findall(r"example `(\w+)`", names):
                self.assertTrue((SDK / "examples" / example).is_dir(), example)
            names = re.sub(r"example `\w+`", "", names)
            if kind != "kind":
                listed.setdefault(kind, []).extend(re.findall(r"`(\w+)`", names))
        there, _ = self.components()
        self.assertEqual(set(listed), set(there))
        for kind, names in listed.items():
            self.assertEqual(sorted(names), sorted(there[kind]), kind)

    def test_every_dataset_and_every_transform_of_images_has_its_place_in_the_pages(self):
        by_kind, by_plugin = self.components()
        pages = {name: (SDK / "docs" / name).read_text() for name in ("datasets.md", "images.md")}
        tables = {name: "\n".join(re.findall(r"^\|.*\|$", text, re.MULTILINE)) for name, text in pages.items()}
        for name in by_kind["dataset"]:
            self.assertIn(f"`{name}`", tables["datasets.md"])
        (of_images,) = (names for plugin, names in by_plugin.items() if "random_crop" in names)
        for name in of_images:
            self.assertIn(f"`{name}`", tables["images.md"])
        (of_batches,) = (names for plugin, names in by_plugin.items() if "batch_mixup" in names)
        for name in of_batches:
            self.assertIn(f"`{name}`", pages["images.md"])

    def test_every_template_for_data_of_ones_own_stands_where_one_begins(self):
        page = (SDK / "docs" / "data.md").read_text()
        names = [path.stem for path in (SDK / "templates" / "pipelines").glob("*.jsonc")
                 if "To be put right for your data" in path.read_text()]
        self.assertGreater(len(names), 4)
        for name in names:
            self.assertIn(f"`tenon init {name}`", page)

    def test_links_lead_somewhere(self):
        counted = 0
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", without_fences(page)):
                if re.match(r"[a-z]+:", target):
                    continue
                with self.subTest(page=page.name, target=target):
                    path, _, anchor = target.partition("#")
                    place = (page.parent / path).resolve() if path else page
                    self.assertTrue(place.exists())
                    if SDK in page.parents:  # an installed SDK has what lies below this folder
                        self.assertTrue(place == SDK or SDK in place.parents, "leads out of the SDK")
                    if anchor:
                        self.assertIn(anchor, anchors(place))
                    counted += 1
        self.assertGreater(counted, 20)

    def test_every_key_of_a_pipeline_is_explained(self):
        schema = json.loads((SOURCE / "schemas/pipeline-1.schema.json").read_text())
        text = (SOURCE / "sdk/docs/pipelines.md").read_text()
        for key in sorted(set(keys_of(schema))):
            with self.subTest(key):
                self.assertRegex(text, rf'"{re.escape(key)}"|`([\w.]+\.)?{re.escape(key)}`')


if __name__ == "__main__":
    unittest.main()
