"""`tenon explain`: every value with its origin."""

import json
import re
import unittest

from program import ProgramTest


def columns(line):
    return re.split(r"  +", line.strip())


class ExplainTest(ProgramTest):
    def rows(self, *arguments):
        code, out, err = self.tenon("explain", "digits.json", *arguments)
        self.assertEqual((code, err), (0, ""))
        return {columns(line)[0]: columns(line)[1:] for line in out.splitlines() if line.strip()}

    def place_of(self, text):
        whole = (self.folder / "digits.json").read_text()
        offset = whole.index(text)
        return f"digits.json:{whole.count(chr(10), 0, offset) + 1}:{offset - whole.rfind(chr(10), 0, offset)}"

    def test_each_kind_of_origin_is_told(self):
        self.write("more.json", '{\n  "fit": { "accumulate": 2 } }')
        rows = self.rows("--overlay", "more.json", "--set", "run.seed=11")
        self.assertEqual(rows["fit.accumulate"], ["2", "more.json:2:26"])
        self.assertEqual(rows["run.seed"], ["11", "--set run.seed=…"])
        self.assertEqual(rows["name"], ['"digits"', self.place_of('"digits"')])
        self.assertEqual(rows["nodes.opt.with.lr"][0], "0.002")
        self.assertIn("vars.lr at " + self.place_of("0.002"), rows["nodes.opt.with.lr"][1])
        self.assertEqual(rows["nodes.opt.with.weight_decay"][1], "default of optimizer:adamw")

    def test_every_path_can_be_set(self):
        for path, (value, _) in self.rows().items():
            if path in ("$schema", "format") or path.endswith(".use"):
                continue
            with self.subTest(path=path):
                outcome = self.tenon("check", "digits.json", "--set", f"{path}={value}")
                self.assertEqual(outcome.code, 0, outcome.err)

    def test_a_pointer_may_be_dotted_or_not(self):
        dotted = self.tenon("explain", "digits.json", "nodes.opt")
        self.assertEqual(dotted, self.tenon("explain", "digits.json", "/nodes/opt"))
        for line in dotted.out.splitlines():
            self.assertTrue(line.startswith(("nodes.opt.", "    ")), line)

    def test_a_parameter_comes_with_its_meaning(self):
        code, out, err = self.tenon("explain", "digits.json", "nodes.opt.with.lr")
        self.assertEqual((code, err), (0, ""))
        value, meaning = out.splitlines()
        self.assertTrue(value.startswith("nodes.opt.with.lr "), value)
        self.assertRegex(meaning, r"^    Learning rate \(number > 0, can be scheduled\)$")

    def test_a_pointer_that_leads_nowhere_is_mended(self):
        for pointer, wanted in (
            ("nodes.opt.with.rl", ['did you mean "nodes.opt.with.lr"?', "nodes.opt.with has: "]),
            ("/nodes/otp/with/lr", ['did you mean "nodes.opt.with.lr"?']),
            ("opt", ['did you mean "nodes.opt"?', "the pipeline has: "]),
            ("opt.with.lr", ['did you mean "nodes.opt.with.lr"?']),
            ("name.x", ["holds no values"]),
            ("/a~b/c~", ["the pipeline has: "]),
            ("nodes.", ["nodes has: "]),
        ):
            with self.subTest(pointer=pointer):
                code, out, err = self.tenon("explain", "digits.json", pointer)
                self.assertEqual((code, out), (2, ""))
                self.assertIn("error[unknown-pointer]: the pipeline has no value at ", err)
                for text in wanted:
                    self.assertIn(text, err)

    def test_json_holds_the_pipeline_and_its_origins(self):
        code, out, err = self.tenon("explain", "digits.json", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        whole = json.loads(out)
        self.assertEqual(whole["pointer"], "")
        self.assertEqual(whole["value"]["nodes"]["opt"]["with"]["lr"], 0.002)
        by_pointer = {each["pointer"]: each for each in whole["values"]}
        lr = by_pointer["/nodes/opt/with/lr"]
        self.assertEqual((lr["value"], lr["origin"]["layer"], lr["origin"]["variable"]), (0.002, "file", "lr"))
        self.assertEqual(by_pointer["/nodes/opt/with/weight_decay"]["origin"]["default_of"], "optimizer:adamw")
        # What it gives is a pipeline again.
        self.write("resolved.json", json.dumps(whole["value"]))
        self.assertEqual(self.tenon("check", "resolved.json").code, 0)

    def test_a_broken_pipeline_is_shown_as_far_as_it_is_understood(self):
        code, out, err = self.tenon("explain", "digits.json", "--set", "run.device=\"gpu\"")
        self.assertEqual(code, 2)
        self.assertIn("error[unknown-value]", err)
        self.assertIn("nodes.opt.with.lr", out)


if __name__ == "__main__":
    unittest.main()
