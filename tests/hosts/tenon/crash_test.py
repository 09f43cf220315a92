"""A crash of a plugin is explained, and costs no more than what lies behind the last checkpoint."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
from typing import NamedTuple

from program import BUILD, PROGRAM, SOURCE, TIME_LIMIT, ProgramTest

sys.path.insert(0, str(SOURCE / "tests" / "proof"))
import runs  # noqa: E402

try:
    from jsonschema import Draft7Validator
except ImportError:
    Draft7Validator = None

PLUGINS = BUILD / "tests" / "plugins"
PLUGIN = PLUGINS / "tenon_crashing.so"
PLUGIN_ITSELF = f"plugin org.tenon.tests.crashing 1.2.0 ({PLUGIN})"
WHO = f"{PLUGIN_ITSELF} crashed"
OFF = {"TENON_TESTS_CRASHING": "off"}
LATE = 7  # calls of one a step: behind the first checkpoint, which comes after five steps
FORWARD = 20  # likewise, of those that are made for shapes and in validation too
SANITIZED = "san" in BUILD.name


class Case(NamedTuple):
    """One crash: how the demo is changed so that it comes, and what has to be told."""

    change: object
    told: str  # a pattern for what follows the plugin's name
    found_by: str = "call"
    call: tuple = ()  # node, component, method
    sample: int = None
    cause: str = "SIGSEGV"
    thread: str = "main"


def trap(method, fault="null", after=LATE, **more):
    return {"trap": {"in": method, "fault": fault, "after": after, **more}}


def dataset(fault="null", **more):
    def change(value):
        value["nodes"]["train_set"] = {"use": "dataset:crashing", "with": trap("read", fault, **more)}
        del value["nodes"]["shift"]
        value["nodes"]["train_x"]["in"] = "train_set"

    return change


def transform(fault="null", after=900):
    def change(value):
        crashing = {"use": "transform:crashing", "in": "train_set", "with": trap("apply", fault, after)}
        value["nodes"]["shift"] = crashing

    return change


def nested(value):
    inner = {"use": "transform:crashing", "with": trap("apply", "null", 900)}
    value["nodes"]["shift"] = {"use": "transform:sometimes", "in": "train_set", "with": {"probability": 1.0, "transform": inner}}


def node(name, use, method, fault="null", after=LATE, **more):
    def change(value):
        old = value["nodes"].get(name, {})
        kept = {key: old[key] for key in ("in", "of") if key in old}
        value["nodes"][name] = {"use": use, **kept, "with": trap(method, fault, after), **more}

    return change


def metric(method, after=2):
    def change(value):
        node("acc", "metric:crashing", method, after=after)(value)
        value["stop"] = []

    return change


def watching(place, method, fault="null", after=LATE):
    def change(value):
        value[place] = [{"use": "observer:crashing", "with": trap(method, fault, after)}]

    return change


def exporter(value):
    value["nodes"]["script"] = {"use": "exporter:crashing", "of": "net", "with": trap("write", "null", 0)}
    value["export"] = ["script"]


def in_ranks(change):
    def changed(value):
        change(value)
        value["nodes"]["ranks"] = {"use": "distributed:threads", "with": {"ranks": 2}}
        value["run"]["distributed"] = "ranks"

    return changed


NET = ("net", "model:crashing", "forward")
OPT = ("opt", "optimizer:crashing", "step")
STEP = r'in step of "opt" \(optimizer:crashing\), on thread main'

CASES = {
    "a null pointer in read": Case(
        dataset(after=1, sample=371),
        r'\(SIGSEGV at address 0x10\) in read of "train_set" \(dataset:crashing\), sample 371, on thread loader \d',
        call=("train_set", "dataset:crashing", "read"), sample=371, thread=r"loader \d"),
    "abort in apply": Case(
        transform("abort"), r'\(SIGABRT\) in apply of "shift" \(transform:crashing\), sample \d+, on thread loader \d',
        call=("shift", "transform:crashing", "apply"), cause="SIGABRT", thread=r"loader \d"),
    "a transform within another plugin's": Case(
        nested, r'\(SIGSEGV at address 0x10\) within apply of "shift" \(transform:sometimes of plugin '
        r'org.tenon.transforms\), sample \d+, on thread loader \d; in this pipeline it brings "shift" '
        r"\(transform:crashing\)",
        found_by="stack", call=("shift", "transform:sometimes", "apply"), thread=r"loader \d"),
    "std::terminate in a thread of its own": Case(
        node("net", "model:crashing", "forward", "terminate", FORWARD),
        r"\(std::terminate after an exception of type std::runtime_error: the sensor is gone\), on a thread that Tenon "
        r'did not start; in this pipeline it brings "net" \(model:crashing\)',
        found_by="stack", cause="terminate", thread=None),
    "noexcept that is not kept": Case(
        node("net", "model:crashing", "forward", "noexcept", FORWARD),
        r"\(std::terminate after an exception of type std::runtime_error: the sensor is gone\) in forward of \"net\"",
        call=NET, cause="terminate"),
    "a stack overflow": Case(
        node("net", "model:crashing", "forward", "overflow", FORWARD),
        r'\(SIGSEGV, stack overflow at address 0x\w+\) in forward of "net" \(model:crashing\), on thread main', call=NET),
    "a stack overflow on a loader thread": Case(
        transform("overflow"), r'\(SIGSEGV, stack overflow at address 0x\w+\) in apply of "shift"',
        call=("shift", "transform:crashing", "apply"), thread=r"loader \d"),
    "a division by zero": Case(
        node("opt", "optimizer:crashing", "step", "divide"), r"\(SIGFPE, integer division by zero\) " + STEP, call=OPT,
        cause="SIGFPE"),
    "an illegal instruction": Case(
        node("opt", "optimizer:crashing", "step", "illegal"), r"\(SIGILL, an instruction \D+\) " + STEP, call=OPT,
        cause="SIGILL"),
    "a mapped file that became shorter": Case(
        node("opt", "optimizer:crashing", "step", "shortened"),
        r"\(SIGBUS, /\S+ \(deleted\), which is mapped, became shorter, or its disk failed at address 0x\w+\) " + STEP, call=OPT, cause="SIGBUS"),
    "a call through a null pointer": Case(
        node("opt", "optimizer:crashing", "step", "call"), r"\(SIGSEGV at address 0x0\) " + STEP, call=OPT),
    "a pointer that none can be": Case(
        node("opt", "optimizer:crashing", "step", "wild"), r"\(SIGSEGV\) " + STEP, call=OPT),
    "memory that is freed twice": Case(
        node("opt", "optimizer:crashing", "step", "heap"), r"\(SIGABRT\) " + STEP, call=OPT, cause="SIGABRT"),
    "memcpy from a bad pointer": Case(
        node("opt", "optimizer:crashing", "step", "copy"),
        r"\(SIGSEGV at address 0x4\w in libc\.so\.6, which it called\) " + STEP, call=OPT),
    "exit() that is called": Case(
        node("opt", "optimizer:crashing", "step", "exit"), r"\(it called exit\(\)\) " + STEP, call=OPT, cause="exit"),
    "exit() that is called on a loader thread": Case(
        dataset("exit", after=0, sample=700), r'\(it called exit\(\)\) in read of "train_set" \(dataset:crashing\)',
        call=("train_set", "dataset:crashing", "read"), sample=700, cause="exit", thread=r"loader \d"),
    "a stack that is destroyed": Case(node("opt", "optimizer:crashing", "step", "corrupt"), r"\(SIGSEGV.*", call=OPT),
    "a model's forward": Case(node("net", *NET[1:], after=FORWARD), r'.* in forward of "net" \(model:crashing\), on thread main',
                              call=NET),
    "backward": Case(
        node("net", "model:crashing", "backward"),
        r'\(SIGSEGV at address 0x10\) in backward, on thread main; in this pipeline it brings "net" \(model:crashing\)',
        found_by="stack", call=("loss", "loss:cross_entropy", "backward")),
    "a loss": Case(node("loss", "loss:crashing", "sum"), r'.* in sum of "loss" \(loss:crashing\), on thread main',
                   call=("loss", "loss:crashing", "sum")),
    "an optimizer's state": Case(node("opt", "optimizer:crashing", "state", after=2),
                                 r'.* in state of "opt" \(optimizer:crashing\), on thread main',
                                 call=("opt", "optimizer:crashing", "state")),
    "a schedule": Case(node("sched", "schedule:crashing", "factor"), r'.* in factor of "sched" \(schedule:crashing\)',
                       call=("sched", "schedule:crashing", "factor")),
    "a precision policy": Case(node("prec", "precision:crashing", "scale", after=20),
                               r'.* in scale of "prec" \(precision:crashing\)',
                               call=("prec", "precision:crashing", "scale")),
    "a metric": Case(metric("update"), r'.* in update of "acc" \(metric:crashing\), on thread main',
                     call=("acc", "metric:crashing", "update")),
    "a metric's end": Case(metric("compute", 1), r'.* in compute of "acc" \(metric:crashing\)',
                           call=("acc", "metric:crashing", "compute")),
    "an observer": Case(watching("observe", "on", after=3),
                        r'.* in on of "observe/0" \(observer:crashing\), on thread observers',
                        call=("observe/0", "observer:crashing", "on"), thread="observers"),
    "a controller": Case(watching("stop", "at_step"), r'.* in at_step of "stop/0" \(observer:crashing\), on thread main',
                         call=("stop/0", "observer:crashing", "at_step")),
    "an exporter": Case(exporter, r'.* in write of "script" \(exporter:crashing\), on thread main',
                        call=("script", "exporter:crashing", "write")),
    "a rank": Case(in_ranks(node("opt", "optimizer:crashing", "step")),
                   r'\(SIGSEGV at address 0x10\) in step of "opt" \(optimizer:crashing\), on thread rank [01]',
                   call=OPT, thread="rank [01]"),
    "a stack overflow of a rank": Case(
        in_ranks(node("opt", "optimizer:crashing", "step", "overflow")),
        r'\(SIGSEGV, stack overflow at address 0x\w+\) in step of "opt" \(optimizer:crashing\), on thread rank [01]',
        call=OPT, thread="rank [01]"),
}


@unittest.skipIf(SANITIZED, "the sanitizer handles crashes itself")
class CrashTest(ProgramTest):
    def pipeline(self, change, name="crashing.json"):
        """Small, with a checkpoint every five steps, of which the first epoch has seventeen."""

        def small(value):
            value["vars"]["epochs"] = 2
            value["nodes"]["net"] = {"use": "model:mlp", "in": {"image": "batch.image"}, "with": {"classes": 10}}
            value["nodes"]["opt"] = {"use": "optimizer:adamw", "of": "net"}
            value["nodes"]["sched"] = {"use": "schedule:constant", "of": "opt"}
            value["nodes"]["train"]["with"]["workers"] = 2
            value["checkpoint"] = {"every": "5 steps"}
            value["validate"]["every"] = "5 steps"
            value["stop"], value["export"], value["observe"] = [], [], []
            change(value)

        return self.demo(small, name)

    def train(self, file, folder, *options, env=None):
        return self.tenon("run", file, "--plugin-path", str(PLUGINS), "--set", f"run.dir={json.dumps(folder)}",
                          *options, env=env)

    def crash(self, folder):
        """crash.json of the one run in the folder."""
        text = (self.folder / folder / "digits/0001/crash.json").read_text()
        report = json.loads(text)
        if Draft7Validator is not None:
            schema = json.loads((SOURCE / "schemas/crash-1.schema.json").read_text())
            self.assertEqual([error.message for error in Draft7Validator(schema).iter_errors(report)], [], text)
        return report

    def checkpoints(self, folder):
        """Oldest first."""
        return sorted((self.folder / folder / "digits/0001/checkpoints").glob("step-*"))

    def last_checkpoint(self, folder):
        return self.checkpoints(folder)[-1]

    def check_last_checkpoint(self, case, folder, notes):
        """It is the one told, unless another thread than the crashing one was at work on the next."""
        told = re.search(r"the last checkpoint is (\S+): run again with --resume must", notes)
        self.assertTrue(told, notes)
        newest = self.checkpoints(folder)[-1 if case.thread == "main" else -2:]
        self.assertIn(pathlib.Path(told[1]), newest)
        for checkpoint in newest:
            self.assertEqual(self.tenon("inspect", str(checkpoint)).code, 0)

    def check_report(self, case, report, message):
        self.assertEqual(report["message"], message)
        self.assertEqual(report["cause"], case.cause)
        self.assertEqual(report["found_by"], case.found_by)
        self.assertEqual(report["plugin"], {"id": "org.tenon.tests.crashing", "version": "1.2.0", "path": str(PLUGIN)})
        if case.thread is None:
            self.assertNotIn("thread", report)
        else:
            self.assertRegex(report["thread"], f"^{case.thread}$")
        call = report.get("call", {})
        self.assertEqual(tuple(call[key] for key in ("node", "component", "method") if key in call), case.call)
        if case.sample is not None:
            self.assertEqual(call["sample"], case.sample)
        self.assertTrue(report["frames"])

    def test_every_crash_is_explained_and_the_run_goes_on_from_the_last_checkpoint(self):
        begin = time.monotonic()
        for number, (name, case) in enumerate(CASES.items()):
            with self.subTest(name):
                file = self.pipeline(case.change)
                crashed, straight = f"crashed{number}", f"straight{number}"
                code, out, err = self.train(file, crashed, "--no-preflight")
                self.assertEqual((code, out), (3, ""), err)
                told = re.search(r"^error\[crash\]: (.*)\n((?:  = note: .*\n)*)\Z", err, re.MULTILINE)
                self.assertTrue(told, err)
                message, notes = told.groups()
                who = f"{PLUGIN_ITSELF} ended the process" if case.cause == "exit" else WHO
                self.assertTrue(message.startswith(who), message)
                self.assertRegex(message[len(who) + 1:], f"^{case.told}")
                report = self.crash(crashed)
                self.check_report(case, report, message)

                self.check_last_checkpoint(case, crashed, notes)
                self.assertIn(f"{crashed}/digits/0001/crash.json holds what is known", notes)
                self.assertIn(f"tenon plugins check {PLUGIN} ", notes)

                code, _, err = self.train(file, crashed, "--no-preflight", "--resume", "must", env=OFF)
                self.assertEqual(code, 0, err)
                self.assertIn(f"The attempt before crashed: {message}\n", err)
                self.assertFalse((self.folder / crashed / "digits/0001/crash.json").exists())
                self.assertTrue((self.folder / crashed / "digits/0001/crash-1.json").exists())
                self.assertEqual(runs.temporaries(self.folder / crashed), [])
                code, _, err = self.train(file, straight, "--no-preflight", env=OFF)
                self.assertEqual(code, 0, err)
                different, compared = runs.different_files(self.last_checkpoint(crashed), self.last_checkpoint(straight))
                self.assertEqual(different, [])
                self.assertGreater(compared, 1000)
        print(f"figure: {len(CASES)} crashes explained in {time.monotonic() - begin:.0f} s", flush=True)

    def test_inspect_tells_of_the_crash(self):
        file = self.pipeline(node("opt", "optimizer:crashing", "step"))
        self.assertEqual(self.train(file, "runs", "--no-preflight").code, 3)
        message = self.crash("runs")["message"]
        shown = self.tenon("inspect", "runs/digits/0001", "--format", "json")
        self.assertEqual(json.loads(shown.out)["crash"], message)
        self.assertRegex(self.tenon("inspect", "runs/digits/0001").out, r"(?m)^ *crash +plugin org\.tenon\.tests\.crash")
        self.assertIn("crashed after step", self.train(file, "runs", env=OFF).err)

    def test_a_crash_in_the_trial_says_that_nothing_began(self):
        file = self.pipeline(node("net", "model:crashing", "build", after=0))
        code, _, err = self.train(file, "runs")
        self.assertEqual(code, 3, err)
        self.assertIn(f'{WHO} (SIGSEGV at address 0x10) in build of "net" (model:crashing), on thread main', err)
        self.assertIn("every stage is tried once before training (--no-preflight leaves that out); no run began", err)
        self.assertFalse((self.folder / "runs/digits").exists())
        self.assertEqual(self.train(file, "runs", env=OFF).code, 0)
        self.assertEqual(os.listdir(self.folder / "runs"), ["digits"], "the next run removes what the trial left")

    def test_a_crash_at_the_end_leaves_a_finished_run(self):
        file = self.pipeline(watching("observe", "destroy", after=0))
        code, _, err = self.train(file, "runs", "--no-preflight")
        self.assertEqual(code, 3, err)
        self.assertIn('in destroy of "observe/0" (observer:crashing), on thread main', err)
        self.assertEqual(runs.last_event(self.folder / "runs/digits/0001")[0], "run_end")
        self.assertEqual(self.crash("runs")["call"]["method"], "destroy")

    def test_a_crash_while_the_trial_asks_for_states_has_its_call(self):
        file = self.pipeline(node("opt", "optimizer:crashing", "state", "abort", after=0))
        code, _, err = self.train(file, "runs")
        self.assertEqual(code, 3, err)
        self.assertIn(f'{WHO} (SIGABRT) in state of "opt" (optimizer:crashing), on thread main', err)

    def test_a_crash_in_a_constructor(self):
        def change(value):
            dataset()(value)
            value["nodes"]["train_set"]["with"]["trap"] = {"in": "create"}

        code, _, err = self.train(self.pipeline(change), "runs", "--no-preflight")
        self.assertEqual(code, 3, err)
        self.assertIn('in create of "train_set" (dataset:crashing), on thread main', err)

    def test_an_exception_of_a_foreign_type_is_an_error_and_no_crash(self):
        code, _, err = self.train(self.pipeline(dataset("foreign", after=0)), "runs")
        self.assertEqual(code, 4, err)
        self.assertIn("an exception of type int", err)
        self.assertNotIn("crashed", err)

    def test_other_commands_explain_too(self):
        file = self.pipeline(node("net", "model:crashing", "forward", after=0))
        self.assertEqual(self.train(file, "runs", env=OFF).code, 0)
        checkpoint = self.last_checkpoint("runs")
        before = runs.log_lines(self.folder / "runs/digits/0001")
        for words in (("eval", "runs/digits/0001"), ("check", file, "--shapes"), ("probe", file, "--at", "net")):
            with self.subTest(words[0]):
                code, _, err = self.tenon(*words, "--plugin-path", str(PLUGINS))
                self.assertEqual(code, 3, err)
                self.assertIn(f'{WHO} (SIGSEGV at address 0x10) in forward of "net" (model:crashing)', err)
        self.assertEqual(runs.log_lines(self.folder / "runs/digits/0001"), before)
        self.assertFalse((self.folder / "runs/digits/0001/crash.json").exists())
        self.assertEqual(self.tenon("inspect", str(checkpoint)).code, 0)

    def test_json_stays_json(self):
        file = self.pipeline(node("opt", "optimizer:crashing", "step", "terminate"))
        code, _, err = self.train(file, "runs", "--no-preflight", "--log-format", "json")
        self.assertEqual(code, 3, err)
        lines = [json.loads(line) for line in err.splitlines()]
        self.assertEqual(lines[-1]["code"]["code"], "crash")
        self.assertEqual(lines[-1]["exit_code"], 3)
        self.assertEqual(lines[-1]["message"], self.crash("runs")["message"])

    def test_a_progress_bar_is_ended(self):
        def change(value):
            node("opt", "optimizer:crashing", "step")(value)
            del value["observe"]

        file = self.pipeline(change)
        code, out, _ = self.tenon_on_terminal("run", file, "--plugin-path", str(PLUGINS), "--no-preflight")
        self.assertEqual(code, 3, out)
        self.assertRegex(out, r"\nerror\[crash\]: plugin")

    def test_a_signal_from_outside_does_what_it_always_does(self):
        file = self.pipeline(lambda value: value["vars"].update(epochs=2000))
        for number, expected in ((signal.SIGSEGV, -signal.SIGSEGV), (signal.SIGABRT, -signal.SIGABRT),
                                 (signal.SIGTERM, runs.PREEMPTED), (signal.SIGINT, 130)):
            with self.subTest(number.name):
                log = self.folder / number.name / "digits/0001/log.jsonl"
                process = subprocess.Popen(
                    [PROGRAM, "run", file, "--no-preflight", "--set", f'run.dir="{number.name}"'], cwd=self.folder,
                    env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                while process.poll() is None and not (log.exists() and '"step"' in log.read_text()):
                    time.sleep(0.02)
                process.send_signal(number)
                _, err = process.communicate(timeout=TIME_LIMIT)
                self.assertEqual(process.returncode, expected, err)
                self.assertNotIn("error[crash]", err)


if __name__ == "__main__":
    unittest.main()
