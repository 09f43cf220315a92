"""`tenon graph`: nodes, edges and paths as text, JSON, DOT and SVG."""

import json
import os
import re
import shutil
import subprocess
import threading
import unittest
import xml.etree.ElementTree

from program import PIPELINES, SOURCE, TIME_LIMIT, ProgramTest

HAVE_DOT = shutil.which("dot") is not None


def nodes_of(pipeline):
    return json.loads((PIPELINES / pipeline).read_text())["nodes"]


def columns(line):
    return re.split(r"  +", line.strip())


def with_many_nodes(count):
    """A change of the demo: a long chain of transforms in the training stream."""

    def change(pipeline):
        nodes = pipeline["nodes"]
        before = "shift"
        for i in range(count - len(nodes)):
            nodes[f"more_{i}"] = {"use": "transform:random_shift", "in": before, "with": {"pixels": 1}}
            before = f"more_{i}"
        nodes["train_x"]["in"] = before

    return change


class GraphTest(ProgramTest):
    def graph(self, *arguments, code=0, env=None):
        done = self.tenon("graph", *arguments, env=env)
        self.assertEqual(done.code, code, done.err)
        return done

    def whole(self, *arguments):
        return json.loads(self.graph(*arguments, "--format", "json").out)


class TextTest(GraphTest):
    def test_every_node_is_there_once_with_its_component(self):
        page = self.graph("digits.json").out
        self.assertTrue(page.startswith("digits: 17 nodes, 3 paths: fit, validate, test\n"), page)
        rows = [columns(line) for line in page.splitlines()]
        for name, node in nodes_of("digits.json").items():
            self.assertEqual(sum(row[:2] == [name, node["use"]] for row in rows), 1, name)

    def test_nodes_stand_in_blocks_by_their_paths(self):
        lines = self.graph("digits.json").out.splitlines()
        titles = [line.strip() for line in lines if re.match(r"  \S", line) and "," in line and "  " not in line.strip()]
        self.assertEqual(titles[:2], ["fit, validate, test", "validate, test"])
        self.assertLess(lines.index("  fit"), lines.index("  validate"))
        self.assertLess(lines.index("  validate"), lines.index("  test"))

    def test_types_stand_on_the_edges(self):
        page = self.graph("digits.json").out
        self.assertIn("<- shift      image float32[1, 8, 8], label int64[]", page)
        self.assertIn("image <- batch.image float32[N, 1, 8, 8]; gives logits float32[N, 10]", page)
        self.assertIn("logits <- net.logits float32[N, 10], target <- batch.label int64[N]", page)

    def test_fields_that_only_the_data_tells_are_said_to_be_so(self):
        self.write("table.json", json.dumps({
            "format": 1, "name": "table",
            "nodes": {
                "rows": {"use": "dataset:csv",
                         "with": {"path": "rows.csv", "fields": [{"name": "y"}, {"name": "k", "type": "text"}]}},
                "named": {"use": "transform:encode_categories", "in": "rows", "with": {"fields": ["k"]}},
                "train": {"use": "loader:threads", "in": "named", "with": {"batch": 2}},
                "net": {"use": "model:mlp", "in": {"y": "batch.y"}, "with": {"input": "y", "classes": 2}},
                "loss": {"use": "loss:cross_entropy", "in": {"logits": "net.logits", "target": "batch.k"}},
                "opt": {"use": "optimizer:sgd", "of": "net", "with": {"lr": 0.1}},
            },
            "fit": {"data": "train", "loss": "loss", "epochs": 1}}))
        code, out, err = self.tenon("graph", "table.json")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\n +rows +dataset:csv +known once it is opened\n")
        self.assertRegex(out, r"\n +named .* k int64\[\], others known once it is opened\n")

    def test_what_is_attached_and_the_settings_are_told(self):
        page = self.graph("digits.json").out
        rows = [columns(line) for line in page.splitlines()]
        for row in (
            ["opt", "optimizer:adamw", "of net, 1 group of parameters"],
            ["sched", "schedule:cosine", "of opt, drives lr"],
            ["script", "exporter:torchscript", "of net"],
            ["prec", "precision:fp32", "of fit"],
            ["fit", "25 epochs of train, minimizes loss, by opt, gradients clipped at norm 1, precision prec"],
            ["validate", "acc on val, every 1 epoch"],
            ["checkpoint", "every 1 epoch, keeps the last 2 and the best by validate.acc"],
            ["stop", "observer:patience (validate.acc)"],
        ):
            self.assertIn(row, rows)

    def test_settings_and_overlays_take_part(self):
        self.write("more.json", '{ "nodes": { "net": { "use": "model:mlp", "with": { "hidden": [32], "classes": 10 } } } }')
        page = self.graph("digits.json", "--overlay", "more.json", "--set", "fit.accumulate=4").out
        self.assertRegex(page, r"net +model:mlp")
        self.assertIn("4 micro-batches an update", page)

    def test_weighted_losses_are_a_sum(self):
        page = self.graph("digits.json", "--set", 'fit.loss={"loss": 0.5}').out
        self.assertIn("minimizes 0.5 loss, by opt", page)

    def test_lines_fit_the_terminal_and_plain_text_has_no_colour(self):
        self.assertNotIn("\x1b", self.graph("digits.json").out)
        shown = self.tenon_on_terminal("graph", "digits.json").out
        self.assertIn("\x1b[1m", shown)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
        self.assertLessEqual(max(len(line.rstrip("\r")) for line in plain.split("\n")), 100)

    def test_columns_are_aligned_whatever_the_names_are(self):
        long = "a_name_that_is_longer_than_any_column_would_be_wide"

        def rename(pipeline):
            nodes = pipeline["nodes"]
            nodes[long] = nodes.pop("train_x")
            nodes["train"]["in"] = long
            nodes["val_x"] = {"call": long, "in": "val_set"}
            nodes["test_x"] = {"call": long, "in": "test_set"}

        data = self.graph(self.demo(rename)).out.split("\n\n")[1].splitlines()
        kinds = ("dataset:", "transform:", "loader:")
        uses = {line.index(kind) for line in data for kind in kinds if kind in line}
        sources = {line.index("<- ") for line in data if "<- " in line}
        self.assertEqual((len(uses), len(sources)), (1, 1), "\n".join(data))
        self.assertEqual(sum(long in line for line in data), 4, "\n".join(data))

    def test_two_hundred_nodes_take_a_line_each(self):
        page = self.graph(self.demo(with_many_nodes(200))).out
        self.assertIn("200 nodes", page)
        self.assertLess(len(page.splitlines()), 230)
        self.assertLess(max(map(len, page.splitlines())), 130)

    def test_a_pipeline_with_errors_is_not_drawn(self):
        for more in ([], ["--dot", "-"], ["--svg", "x.svg"], ["--format", "json"]):
            with self.subTest(more=more):
                done = self.graph("digits.json", "--set", "nodes.loss.in.logits=\"net.logit\"", *more, code=2)
                self.assertEqual(done.out, "")
                self.assertIn("net.logit", done.err)
        self.assertFalse((self.folder / "x.svg").exists())
        self.assertIn("missing-file", self.graph("digit.json", code=2).err)


class JsonTest(GraphTest):
    def test_nodes_have_plane_paths_and_fields(self):
        whole = self.whole("digits.json")
        self.assertEqual(whole["pipeline"], "digits")
        by_name = {node["name"]: node for node in whole["nodes"]}
        self.assertEqual({name: node["use"] for name, node in by_name.items()},
                         {name: node["use"] for name, node in nodes_of("digits.json").items()})
        self.assertEqual(by_name["net"]["paths"], ["fit", "validate", "test"])
        self.assertEqual(by_name["sched"]["paths"], ["fit", "validate", "test"])
        self.assertEqual(by_name["prec"]["paths"], [])
        self.assertEqual([by_name[name]["plane"] for name in ("val", "acc", "opt")], ["data", "step", "attached"])
        self.assertEqual(by_name["train"]["out"][0], {"name": "image", "dtype": "float32", "shape": ["N", 1, 8, 8]})

    def test_edges_are_those_of_the_file(self):
        whole = self.whole("digits.json")
        edges = {(e["kind"], e["from"], e["to"], e.get("output"), e.get("port")) for e in whole["edges"]}
        wanted = {("batch", loader, "batch", None, None) for loader in ("train", "val", "test")}
        for name, node in nodes_of("digits.json").items():
            given = node.get("in", {})
            if isinstance(given, str):
                wanted.add(("stream", given, name, None, None))
            else:
                wanted |= {("tensor", *source.split("."), name, port) for port, source in given.items()}
            if "of" in node:
                wanted.add(("of", name, node["of"], None, None))
        wanted = {(k, a, c, b, d) if k == "tensor" else (k, a, b, c, d) for k, a, b, c, d in wanted}
        self.assertEqual(edges, wanted)
        self.assertEqual(len(whole["edges"]), len(edges))

    def test_paths_are_listed_with_what_they_run(self):
        paths = {path["name"]: path for path in self.whole("digits.json")["paths"]}
        self.assertEqual(list(paths), ["fit", "validate", "test"])
        self.assertEqual(paths["fit"]["stream"], ["train_set", "shift", "train_x", "train"])
        self.assertEqual(paths["validate"]["step"], ["net", "acc"])
        self.assertEqual(paths["test"]["data"], "test")


class DotTest(GraphTest):
    def dot(self, *arguments):
        return self.graph(*arguments, "--dot", "-").out

    def test_the_picture_in_the_documentation_is_that_of_the_demo(self):
        docs = SOURCE / "sdk" / "docs"
        self.assertEqual(self.dot("digits.json"), (docs / "digits.dot").read_text(),
                         "tenon graph digits.json --dot sdk/docs/digits.dot --svg sdk/docs/digits.svg")
        titles = re.findall(r"<title>(\w+)</title>", (docs / "digits.svg").read_text())
        self.assertLessEqual(set(nodes_of("digits.json")), set(titles))

    def test_the_same_graph_gives_the_same_text(self):
        # The order in the file does not matter.
        turned = self.demo(lambda pipeline: pipeline.update(nodes=dict(reversed(pipeline["nodes"].items()))))
        self.assertEqual(self.dot("digits.json"), self.dot(turned))

    def test_planes_are_clusters_and_kinds_have_colours(self):
        text = self.dot("digits.json")
        data, step = text.index("subgraph cluster_data"), text.index("subgraph cluster_step")
        self.assertTrue(data < text.index('"train_x" [') < step < text.index('"acc" [') < text.index('"opt" ['))
        colours = dict(re.findall(r'^ *"(\w+)" \[label=.*fillcolor="(#\w+)"', text, re.MULTILINE))
        self.assertEqual(colours["train_x"], colours["shift"])
        self.assertEqual(len({colours[name] for name in ("train_set", "shift", "train", "net", "loss", "acc", "opt")}), 7)
        self.assertIn('"train_x" -> "train" [label="image float32[1, 8, 8]\\nlabel int64[]"', text)
        self.assertIn('"batch" -> "loss" [label="label to target\\nint64[N]"', text)

    @unittest.skipUnless(HAVE_DOT, "Graphviz is not installed")
    def test_words_of_graphviz_may_be_names(self):
        text = (self.folder / "digits.json").read_text()
        for word in ("node", "edge", "strict", "subgraph", "digraph"):
            self.write("words.json", text.replace('"shift"', f'"{word}"'))
            self.dot_is_valid(self.dot("words.json"), word)

    @unittest.skipUnless(HAVE_DOT, "Graphviz is not installed")
    def test_names_that_mean_something_to_graphviz_are_escaped(self):
        field = 'a"b\\N<i>&lt;}; x -> y; {é'

        def change(pipeline):
            nodes = pipeline["nodes"]
            for name in ("train_set", "val_set", "test_set"):
                nodes[name] = {"use": "dataset:synthetic", "with": {"field": field, "features": 64}}
            for name, source in (("train", "train_set"), ("val", "val_set"), ("test", "test_set")):
                nodes[name]["in"] = source
            for name in ("shift", "train_x", "val_x", "test_x", "script"):
                del nodes[name]
            nodes["net"] = {"use": "model:mlp", "in": {"image": f"batch.{field}"}, "with": {"classes": 10}}
            del pipeline["export"]

        pipeline = self.demo(change)
        self.dot_is_valid(self.dot(pipeline), "net")
        svg = xml.etree.ElementTree.fromstring(self.graph(pipeline, "--svg", "-").out)
        texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn(f"{field} to image", texts)

    def dot_is_valid(self, text, node):
        done = subprocess.run(["dot", "-Tplain"], input=text.encode(), capture_output=True, timeout=TIME_LIMIT)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(), rf"\nnode \"?{node}\"? ")

    @unittest.skipUnless(HAVE_DOT, "Graphviz is not installed")
    def test_graphviz_finds_nodes_and_edges(self):
        text = self.dot(self.demo(with_many_nodes(200)))
        done = subprocess.run(["dot", "-Tplain"], input=text.encode(), capture_output=True, timeout=TIME_LIMIT)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        plain = done.stdout.decode()
        self.assertEqual(len(re.findall(r"^node ", plain, re.MULTILINE)), 201)  # and the batch
        self.assertEqual(len(re.findall(r"^edge ", plain, re.MULTILINE)), len(re.findall(r" -> .*;$", text, re.MULTILINE)))

    def test_the_drawing_goes_into_a_file(self):
        done = self.graph("digits.json", "--dot", "sub.dot")
        self.assertEqual((done.out, done.err), ("", ""))
        self.assertEqual((self.folder / "sub.dot").read_text(), self.dot("digits.json"))
        for option in ("--dot", "--svg"):
            self.assertIn(f"{option} needs a value", self.graph("digits.json", f"{option}=", code=2).err)
            self.assertIn(f"{option} needs the name of a file", self.graph("digits.json", option, "", code=2).err)
        for place in ("nowhere/x.dot", ".", "digits.json/x"):
            with self.subTest(place=place):
                self.assertIn("cannot ", self.graph("digits.json", "--dot", place, code=10).err)


    def test_what_is_no_regular_file_is_written_and_stays_what_it_is(self):
        os.mkfifo(self.folder / "pipe")
        got = []
        reader = threading.Thread(target=lambda: got.append((self.folder / "pipe").read_text()))
        reader.start()
        self.graph("digits.json", "--dot", "pipe")
        reader.join(TIME_LIMIT)
        self.assertEqual(got, [self.dot("digits.json")])
        self.assertTrue((self.folder / "pipe").is_fifo())


@unittest.skipUnless(HAVE_DOT, "Graphviz is not installed")
class SvgTest(GraphTest):
    def test_the_svg_is_whole_and_the_same_each_time(self):
        self.graph("digits.json", "--svg", "one.svg")
        first = (self.folder / "one.svg").read_text()
        self.assertEqual(self.graph("digits.json", "--svg", "-").out, first)
        root = xml.etree.ElementTree.fromstring(first)
        texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
        for name, node in nodes_of("digits.json").items():
            self.assertIn(name, texts)
            self.assertIn(node["use"], texts)
        self.assertIn("float32[N, 10]", texts)

    def test_both_drawings_can_be_written_at_once(self):
        self.graph("digits.json", "--svg", "x.svg", "--dot", "x.dot")
        self.assertEqual((self.folder / "x.dot").read_text(), self.graph("digits.json", "--dot", "-").out)
        self.assertIn("</svg>", (self.folder / "x.svg").read_text())
        for place in ("-", "x"):
            self.assertIn("both write to", self.graph("digits.json", "--svg", place, "--dot", place, code=2).err)

    def test_nothing_is_left_in_the_temporary_folder(self):
        scratch = self.folder / "tmp"
        scratch.mkdir()
        self.graph("digits.json", "--svg", "-", env={"TMPDIR": str(scratch)})
        self.assertEqual(list(scratch.iterdir()), [])


class WithoutGraphvizTest(GraphTest):
    def test_a_missing_graphviz_is_told_with_its_package(self):
        done = self.graph("digits.json", "--svg", "x.svg", code=2, env={"PATH": str(self.folder)})
        self.assertIn("apt-get install graphviz", done.err)
        self.assertFalse((self.folder / "x.svg").exists())
        self.graph("digits.json", "--dot", "x.dot", env={"PATH": ""})

    def test_a_graphviz_that_fails_is_told_with_its_words(self):
        program = self.folder / "dot"
        program.write_text("#!/bin/sh\necho 'no fonts today' >&2\nexit 3\n")
        program.chmod(0o755)
        done = self.graph("digits.json", "--svg", "-", code=2, env={"PATH": f"{self.folder}:/usr/bin:/bin"})
        self.assertIn("exit code 3: no fonts today", done.err)
        self.assertEqual(done.out, "")
        program.write_text("#!/bin/sh\nkill -SEGV $$\n")
        done = self.graph("digits.json", "--svg", "-", code=2, env={"PATH": f"{self.folder}:/usr/bin:/bin"})
        self.assertIn("was ended by signal 11 while it drew this graph; take --dot", done.err)


if __name__ == "__main__":
    unittest.main()
