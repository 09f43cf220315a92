"""`tenon plugins list` and `show`: what is installed, and how to use it."""

import json
import re
import textwrap
import unittest

from program import BUILD, ProgramTest

LOSSES = BUILD / "lib" / "tenon" / "plugins" / "tenon_losses.so"


class PluginsTest(ProgramTest):
    def listed(self, *arguments):
        code, out, err = self.tenon("plugins", "list", "--format", "json", *arguments)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def test_the_list_has_a_line_for_each_component(self):
        components = self.listed()["components"]
        code, out, err = self.tenon("plugins", "list")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(out.splitlines()), len(components))
        for each, line in zip(components, out.splitlines()):
            cells = re.split(r"  +", line)
            self.assertEqual(cells, [each[key] for key in ("kind", "name", "plugin", "version", "summary")])
        ids = {f"{each['kind']}:{each['name']}" for each in components}
        self.assertLessEqual({"loader:threads", "loss:cross_entropy", "optimizer:adamw", "model:cnn"}, ids)

    def test_kind_filters(self):
        kinds = {each["kind"] for each in self.listed("--kind", "transform")["components"]}
        self.assertEqual(kinds, {"transform"})
        self.assertEqual([each["name"] for each in self.listed("--kind", "loader")["components"]], ["threads"])

    def test_refused_files_come_with_their_reasons(self):
        folder = self.folder / "extra"
        folder.mkdir()
        (folder / "empty.so").write_bytes(b"")
        (folder / "text.so").write_text("no library")
        (folder / "cut.so").write_bytes(LOSSES.read_bytes()[:5000])
        (folder / "notes.txt").write_text("not looked at")
        refused = self.listed("--plugin-path", "extra")["refused"]
        self.assertEqual({each["path"] for each in refused}, {str(folder / n) for n in ("empty.so", "text.so", "cut.so")})
        code, out, err = self.tenon("plugins", "list", "--plugin-path", "extra")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("3 files refused", out)
        for each in refused:
            self.assertTrue(each["message"])
            self.assertIn(f"{each['path']}: {each['reason']}", out)

    def test_a_component_is_shown_by_full_or_bare_name(self):
        page = self.tenon("plugins", "show", "loss:cross_entropy")
        self.assertEqual((page.code, page.err), (0, ""))
        self.assertEqual(self.tenon("plugins", "show", "cross_entropy"), page)
        self.assertTrue(page.out.startswith("loss:cross_entropy: "))
        self.assertIn("org.tenon.losses", page.out)
        self.assertIn("logits: float[N, C, *]", page.out)
        schema = json.loads(self.tenon("plugins", "show", "cross_entropy", "--format", "json").out)["parameters"]
        table = page.out[page.out.index("Parameters") : page.out.index("In a pipeline")]
        shown = re.findall(r"^  (\w+)  ", table, re.MULTILINE)
        self.assertEqual(shown, schema["x-order"])
        for name, parameter in schema["properties"].items():
            line = next(line for line in table.splitlines() if line.split()[:1] == [name])
            self.assertIn(parameter["description"], line)

    def test_a_page_of_reference_holds_all_that_the_plain_page_tells(self):
        page = self.tenon("plugins", "show", "cross_entropy", "--format", "md").out
        self.assertTrue(page.startswith("## loss:cross_entropy\n"))
        schema = json.loads(self.tenon("plugins", "show", "cross_entropy", "--format", "json").out)["parameters"]
        rows = re.findall(r"(?m)^\| `(\w+)` \| (.+?) \| (.+?) \| (.+) \|$", page)
        self.assertEqual([row[0] for row in rows], schema["x-order"])
        for name, _, default, meaning in rows:
            self.assertEqual(json.loads(default.strip("`")), schema["properties"][name]["default"])
            self.assertEqual(re.sub(r"\\(.)", r"\1", meaning), schema["properties"][name]["description"])
        whole = self.tenon("plugins", "show", "org.tenon.losses", "--format", "md").out
        self.assertIn(page, whole)
        self.assertNotIn(str(BUILD), whole)

    def test_reference_pages_of_all_plugins_are_written_and_their_links_lead_somewhere(self):
        code, out, err = self.tenon("plugins", "show", "--out", "pages")
        self.assertEqual((code, out, err), (0, "", ""))
        pages = {path.name: path.read_text() for path in (self.folder / "pages").iterdir()}
        links = re.findall(r"\((\S+\.md)#(\S+)\)", pages["README.md"])
        self.assertEqual(len(links), len(self.listed()["components"]))
        for page, anchor in links:
            headings = re.findall(r"(?m)^## (.+)$", pages[page])
            self.assertIn(anchor, [heading.replace(":", "") for heading in headings])
        for arguments in (["adamw", "--out", "x"], ["--out", "x", "--format", "json"], []):
            self.assertEqual(self.tenon("plugins", "show", *arguments).code, 2)
        self.assertFalse((self.folder / "x").exists())

    def test_members_of_a_list_are_shown_like_parameters(self):
        page = self.tenon("plugins", "show", "csv").out
        rows = {line.split()[0]: re.split(r"  +", line.strip()) for line in page.splitlines() if line.startswith("  fields[]")}
        self.assertEqual(list(rows), [f"fields[].{name}" for name in ("name", "column", "columns", "type", "dtype")])
        self.assertEqual(rows["fields[].type"][1:3], ['"number" | "integer" | "text"', '"number"'])
        self.assertEqual(rows["fields[].name"][1:], ["string", "required", "Name of the field"])
        self.assertIn("its name in the header", rows["fields[].column"][3])

    def test_a_snippet_names_its_input_and_each_member_of_an_element(self):
        for component, wanted in (
            ("dataset:split", {"use": "dataset:split", "in": "train_set", "with": {"part": "train"}}),
            ("model:mlp", {"use": "model:mlp", "in": {"image": "batch.image"}}),
            ("transform:one_hot",
             {"use": "transform:one_hot", "in": "train_set", "with": {"fields": ["FIELD"], "classes": 1}}),
        ):
            shown = json.loads(self.tenon("plugins", "show", component, "--format", "json").out)["snippet"]
            self.assertEqual(list(json.loads("{" + shown + "}").values()), [wanted])
        shown = json.loads(self.tenon("plugins", "show", "csv", "--format", "json").out)["snippet"]
        (field,) = json.loads("{" + shown + "}")["csv"]["with"]["fields"]
        self.assertEqual(list(field), ["name", "column", "columns", "type", "dtype"])

    def test_every_component_can_be_shown_and_its_snippet_pasted(self):
        for each in self.listed()["components"]:
            name = f"{each['kind']}:{each['name']}"
            with self.subTest(component=name):
                page = self.tenon("plugins", "show", name)
                self.assertEqual((page.code, page.err), (0, ""))
                shown = json.loads(self.tenon("plugins", "show", name, "--format", "json").out)
                self.assertIn(textwrap.indent(shown["snippet"], "  "), page.out)
                pasted = json.loads("{" + shown["snippet"] + "}")
                (value,) = pasted.values()
                node = value[0] if isinstance(value, list) else value
                self.assertEqual(node["use"], name)
                # Its parameters are taken: in a pipeline that uses the node, no error lies below "with", but that names
                # of fields and components remain to be put right.
                pipeline = self.demo(lambda p: p["nodes"].update(pasted) if isinstance(value, dict) else p.update(pasted))
                err = self.tenon("check", pipeline).err
                self.assertNotRegex(
                    err, r"error\[(?!unknown-(?:field|component)\]).*\n  -->.*/(nodes/\w+|stop/0|observe/0)/with")

    def test_a_plugin_is_shown_by_its_id(self):
        code, out, err = self.tenon("plugins", "show", "org.tenon.losses")
        self.assertEqual((code, err), (0, ""))
        self.assertIn(str(LOSSES), out)
        self.assertIn("loss:cross_entropy", out)
        facts = json.loads(self.tenon("plugins", "show", "org.tenon.losses", "--format", "json").out)
        self.assertEqual(facts["path"], str(LOSSES))
        self.assertEqual(facts["licence"], "Apache-2.0")

    def test_a_name_that_is_not_there_is_mended(self):
        for name, wanted in (
            ("cros_entropy", 'did you mean "cross_entropy"?'),
            ("los:cross_entropy", 'did you mean "loss:cross_entropy"?'),
            ("org.tenon.loses", 'did you mean "org.tenon.losses"?'),
            ("xyzzy", "tenon plugins list tells what there is"),
        ):
            with self.subTest(name=name):
                code, out, err = self.tenon("plugins", "show", name)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(wanted, err)


if __name__ == "__main__":
    unittest.main()
