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

    def test_what_the_format_gives_is_shown_and_can_be_set(self):
        rows = self.rows()
        self.assertEqual(rows["observe.0.use"], ['"observer:console"', "default of the pipeline format"])
        self.assertEqual(rows["observe.0.with.interval"][1], "default of observer:console")
        self.assertEqual(rows["nodes.sched.field"], ['"lr"', "default of the pipeline format"])
        changed = self.rows("--set", 'observe.0.with.progress="none"')
        self.assertEqual(changed["observe.0.with.progress"], ['"none"', "--set observe.0.with.progress=…"])
        self.assertEqual(changed["observe.0.use"], rows["observe.0.use"])
        self.assertEqual(self.rows("--set", "observe=[]")["observe"], ["[]", "--set observe=…"])

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

    def changes(self, *arguments, code=0):
        done = self.tenon("explain", "digits.json", "--diff", *arguments)
        self.assertEqual(done.code, code, done.err)
        return {columns(line)[0]: columns(line)[1:] for line in done.out.splitlines()}

    def test_a_diff_tells_what_overlays_and_settings_change_with_both_origins(self):
        self.write("more.json", '{\n  "fit": { "accumulate": 2, "clip": null },\n'
                                '  "nodes": { "rate": { "use": "schedule:constant", "of": "opt" }, "sched": null } }')
        changes = self.changes("--overlay", "more.json", "--set", "vars.lr=0.01", "--set", "run.seed=7")
        self.assertEqual(set(changes), {"vars.lr", "nodes.opt.with.lr", "fit.accumulate", "fit.clip",
                                        "nodes.rate", "nodes.sched"})
        self.assertEqual(changes["fit.accumulate"][0], "1 -> 2")
        self.assertRegex(changes["fit.accumulate"][1], r"^digits.json:\d+:\d+ -> more.json:2:26$")
        self.assertEqual(changes["fit.clip"][0], 'removed: { "norm": 1.0 }')
        self.assertEqual(changes["nodes.rate"], ["added: schedule:constant", "more.json:3:22"])
        self.assertEqual(changes["nodes.sched"][0], "removed: schedule:cosine")
        self.assertEqual(changes["nodes.opt.with.lr"],
                         ["0.002 -> 0.01", f"vars.lr at {self.place_of('0.002')} -> vars.lr at --set vars.lr=…"])

    def test_a_diff_shows_what_goes_with_a_swapped_component(self):
        changes = self.changes("--set", 'nodes.opt.use="optimizer:sgd"')
        self.assertEqual(changes["nodes.opt.use"][0], '"optimizer:adamw" -> "optimizer:sgd"')
        self.assertEqual(changes["nodes.opt.with.momentum"], ["added: 0.0", "default of optimizer:sgd"])
        self.assertEqual(changes["nodes.opt.with.beta1"], ["removed: 0.9", "default of optimizer:adamw"])

    def test_a_diff_may_be_of_a_part_and_in_json(self):
        settings = ["--set", "vars.lr=0.01", "--set", "fit.accumulate=2"]
        self.assertEqual(list(self.changes("nodes.opt", *settings)), ["nodes.opt.with.lr"])
        self.assertEqual(list(self.changes("/fit", *settings)), ["fit.accumulate"])
        whole = json.loads(self.tenon("explain", "digits.json", "/fit", "--diff", "--format", "json", *settings).out)
        (change,) = whole["changes"]
        self.assertEqual((whole["pointer"], change["pointer"], change["what"]), ("/fit", "/fit/accumulate", "changed"))
        self.assertEqual((change["before"]["value"], change["before"]["origin"]["layer"]), (1, "file"))
        self.assertEqual((change["after"]["value"], change["after"]["origin"]["layer"]), (2, "set"))

    def test_a_diff_without_changes_says_so(self):
        for settings in ([], ["--set", "run.seed=7"]):
            with self.subTest(settings=settings):
                self.assertEqual(self.tenon("explain", "digits.json", "--diff", *settings),
                                 (0, "nothing differs from digits.json alone\n", ""))
        done = self.tenon("explain", "digits.json", "nodes.otp", "--diff")
        self.assertEqual((done.code, done.out), (2, ""))
        self.assertIn('did you mean "nodes.opt"?', done.err)

    def test_a_diff_reports_the_errors_of_the_whole_alone(self):
        broken = self.demo_text('"pixels": 1', '"pixels": "x"')
        self.assertEqual(self.tenon("explain", broken, "--diff").code, 2)
        done = self.tenon("explain", broken, "--diff", "--set", "nodes.shift.with.pixels=2")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertIn('"x" -> 2', done.out)


class PlotTest(ProgramTest):
    def plot(self, *arguments, code=0, locale="C"):
        done = self.tenon("explain", "digits.json", "--plot", *arguments, env={"LC_ALL": locale})
        self.assertEqual(done.code, code, done.err)
        return done

    def test_the_demos_schedule_warms_up_for_fifty_steps(self):
        out = self.plot("sched").out
        self.assertTrue(out.startswith("lr of opt, driven by sched (schedule:cosine) over 425 steps, 17 an epoch; "
                                       "configured 0.002\n"), out)
        self.assertTrue(out.endswith("^ end of warm-up (step 50)\n"), out)
        self.assertRegex(out, r"\n0\.002 \+ +\*+\n")
        self.assertRegex(out, r"\n +1 .* 425\n")
        self.assertTrue(out.isascii())
        self.assertLessEqual(max(map(len, out.split("\n")[1:])), 80)

    def test_a_locale_with_utf8_gets_dots(self):
        out = self.plot("sched", locale="C.UTF-8").out
        self.assertTrue(any("\u2800" < c <= "\u28ff" for c in out), out)

    def test_the_numbers_are_those_of_a_run(self):
        whole = json.loads(self.plot("sched", "--set", "vars.epochs=3", "--format", "json").out)
        self.assertEqual((whole["node"], whole["of"], whole["field"]), ("sched", "opt", "lr"))
        self.assertEqual((whole["planned"], whole["steps_per_epoch"], whole["configured"]), (51, 17, 0.002))
        values = dict(map(tuple, whole["values"]))
        self.assertEqual(list(values), list(range(1, 52)))
        self.assertEqual(self.tenon("run", "digits.json", "--set", "vars.epochs=3").code, 0)
        log = (self.folder / "runs" / "digits" / "0001" / "log.jsonl").read_text().splitlines()
        logged = {event["step"]: event["values"]["train.lr.opt"] for event in map(json.loads, log)
                  if event["event"] == "step"}
        self.assertGreater(len(logged), 3)
        for step, value in logged.items():
            self.assertEqual(values[step], value, step)

    def test_what_is_no_schedule_is_refused(self):
        for name, wanted in (("opt", '"opt" is optimizer:adamw'), ("nobody", '"nobody" is no node of the pipeline')):
            done = self.plot(name, code=2)
            self.assertIn(wanted, done.err)
            self.assertIn("the pipeline's schedules: sched", done.err)
        changes = ["--set", "nodes.sched.disabled=true"]
        self.assertIn("the pipeline has no schedules", self.plot("sched", *changes, code=2).err)
        self.assertIn("cannot be combined", self.plot("sched", "--diff", code=2).err)
        self.assertIn("there is no POINTER", self.tenon("explain", "digits.json", "nodes", "--plot", "sched").err)
        done = self.plot("sched", "--set", "vars.lr=-1", code=2)
        self.assertEqual(done.out, "")
        self.assertIn("nothing is drawn", done.err)


if __name__ == "__main__":
    unittest.main()
