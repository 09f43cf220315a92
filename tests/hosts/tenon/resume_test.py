"""`tenon run --resume`, signals and --accept, as one meets them on the command line."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import numpy
from program import PROGRAM, TIME_LIMIT, ProgramTest

SHORT = ["--set", "vars.epochs=3", "--set", "export=[]"]
LONG = ["--set", "vars.epochs=2000", "--set", "export=[]"]


class ResumeTest(ProgramTest):
    def run_digits(self, *options):
        return self.tenon("run", "digits.json", *options)

    def outcome(self, *options):
        code, _, err = self.run_digits(*options, "--outcome", "outcome.json")
        return code, err, json.loads((self.folder / "outcome.json").read_text())

    def interrupt_at(self, step):
        code, err, outcome = self.outcome(*SHORT, "--interrupt-at", str(step))
        self.assertEqual(code, 75, err)
        return err, outcome

    def started(self, *options):
        """A long run that has made some steps."""
        process = subprocess.Popen([PROGRAM, "run", "digits.json", *LONG, *options], cwd=self.folder,
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        log = self.folder / "runs" / "digits" / "0001" / "log.jsonl"
        deadline = time.monotonic() + TIME_LIMIT
        while time.monotonic() < deadline and not (log.exists() and '"step"' in log.read_text()):
            time.sleep(0.05)
        return process

    def test_the_first_signal_saves_and_says_how_to_go_on(self):
        for number, expected in ((signal.SIGTERM, 75), (signal.SIGUSR1, 75), (signal.SIGHUP, 75), (signal.SIGINT, 130)):
            with self.subTest(signal=number.name):
                process = self.started()
                process.send_signal(number)
                _, err = process.communicate(timeout=TIME_LIMIT)
                self.assertEqual(process.returncode, expected, err)
                self.assertIn(f"Interrupted by {number.name}", err)
                saved = sorted((self.folder / "runs/digits/0001/checkpoints").glob("step-*"))[-1]
                self.assertIn(str(saved.relative_to(self.folder)), err)
                self.assertIn("--resume runs/digits/0001", err)
                subprocess.run(["rm", "-rf", "runs"], cwd=self.folder, check=True)

    def test_a_signal_before_the_first_step_says_how_to_go_on_too(self):
        often = [*SHORT, "--set", 'checkpoint={"every": "1 step", "keep": {"last": 2}}']
        self.assertEqual(self.outcome(*often, "--interrupt-at", "2")[0], 75)
        first = "runs/digits/0001/checkpoints/step-000001"
        for resume, step, place in (("runs/digits/0001", 2, "runs/digits/0001"), (first, 1, first)):
            with self.subTest(resume):
                process = subprocess.Popen([PROGRAM, "run", "digits.json", *often, "--resume", resume], cwd=self.folder,
                                           env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           text=True)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                status = pathlib.Path(f"/proc/{process.pid}/status")
                deadline = time.monotonic() + TIME_LIMIT
                # As soon as it listens: the engine is not even open then.
                while not int(status.read_text().split("SigCgt:")[1].split()[0], 16) >> (signal.SIGTERM - 1) & 1:
                    self.assertLess(time.monotonic(), deadline)
                process.send_signal(signal.SIGTERM)
                _, err = process.communicate(timeout=TIME_LIMIT)
                self.assertEqual(process.returncode, 75, err)
                saved = f"runs/digits/0001/checkpoints/step-{step:06}"
                self.assertIn(f"Interrupted by SIGTERM at step {step}; saved: {saved}\n", err)
                self.assertTrue(err.endswith(f" --resume {place}\n"), err)
        self.assertEqual(len(list((self.folder / "runs/digits").iterdir())), 1)

    def test_a_run_whose_directory_goes_away_says_so_and_makes_no_other(self):
        runs = self.folder / "runs"
        for change, word in ((shutil.rmtree, "was removed"),
                             (lambda folder: folder.rename(self.folder / "kept"), "was moved to")):
            with self.subTest(word):
                process = self.started()
                process.send_signal(signal.SIGSTOP)  # nothing is written while the folder is being removed
                change(runs)
                process.send_signal(signal.SIGCONT)
                _, err = process.communicate(timeout=TIME_LIMIT)
                self.assertEqual(process.returncode, 10, err)
                self.assertRegex(err, rf"error\[storage\]: the run directory {runs}/digits/0001 {word} ")
                self.assertFalse(runs.exists())
        log = (self.folder / "kept/digits/0001/log.jsonl").read_text().splitlines()
        self.assertEqual(json.loads(log[-1])["event"], "failure")

    def test_a_run_whose_files_were_removed_does_not_end_well(self):
        process = self.started("--set", "vars.epochs=20", "--set", "nodes.net.with.width=4")
        process.send_signal(signal.SIGSTOP)
        (self.folder / "runs/digits/0001/config.resolved.json").unlink()
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=TIME_LIMIT)
        self.assertEqual(process.returncode, 10, err)
        self.assertIn("had written there: config.resolved.json, removed while it was going", err)

    def test_a_file_of_first_values_need_not_be_there_to_go_on(self):
        code, _, outcome = self.outcome(*SHORT, "--interrupt-at", "1")
        self.assertEqual(code, 75)
        values = self.folder / "first.safetensors"
        values.write_bytes((pathlib.Path(outcome["checkpoint"]) / "model.net.safetensors").read_bytes())
        load = ["--set", '+nodes.net.load="first.safetensors"', "--set", 'name="loaded"']
        self.assertEqual(self.outcome(*SHORT, *load, "--interrupt-at", "2")[0], 75)
        values.unlink()
        code, err, outcome = self.outcome(*SHORT, *load, "--resume", "auto")
        self.assertEqual((code, outcome["first_step"]), (0, 2), err)
        for resume in ([], ["--resume", "never"], ["--resume", "auto"]):  # what was unfinished is finished
            with self.subTest(resume=resume):
                code, _, err = self.run_digits(*SHORT, *load, *resume)
                self.assertEqual(code, 2, err)
                self.assertIn("error[missing-file]", err)
                self.assertIn("first.safetensors is not there", err)
                self.assertFalse((self.folder / "runs/loaded/0002").exists())

    def test_threads_of_loaders_leave_those_of_training_alone(self):
        wide = ["--set", "run.threads=2", "--set", "nodes.train.with.workers=8", "--set", "nodes.val.with.workers=8"]
        for expected, more in ((75, ["--no-preflight", "--interrupt-at", "2"]), (0, ["--resume", "auto"])):
            code, err, outcome = self.outcome(*SHORT, *wide, *more)
            self.assertEqual(code, expected, err)
            state = json.loads((pathlib.Path(outcome["checkpoint"]) / "state.json").read_text())
            self.assertEqual(state["provenance"]["threads"], 2)

    def test_an_outcome_tells_what_trying_every_stage_took(self):
        quick = [*SHORT, "--set", "nodes.net.with.width=4", "--set", "fit.epochs=1", "--limit", "train=1"]
        self.assertGreater(self.outcome(*quick)[2]["preflight_seconds"], 0)
        self.assertEqual(self.outcome(*quick, "--no-preflight")[2]["preflight_seconds"], 0)

    def test_the_second_signal_ends_at_once(self):
        # A transform-free pipeline saves too fast to be caught in between: the process is stopped meanwhile.
        process = self.started()
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=TIME_LIMIT)
        self.assertIn(process.returncode, (-signal.SIGTERM, -signal.SIGINT))

    def test_never_is_the_default_and_mentions_what_stands_still(self):
        self.interrupt_at(5)
        code, err, outcome = self.outcome(*SHORT)
        self.assertEqual(code, 0, err)
        self.assertIn("runs/digits/0001 was interrupted at step 5; --resume auto goes on with it", err)
        self.assertEqual(pathlib.Path(outcome["directory"]).name, "0002")
        self.assertEqual(outcome["first_step"], 0)

    def test_auto_goes_on_once_and_then_begins_anew(self):
        self.interrupt_at(20)
        code, err, second = self.outcome(*SHORT, "--resume", "auto")
        self.assertEqual(code, 0, err)
        self.assertIn("Resuming runs/digits/0001 at step 20", err)
        self.assertEqual((second["first_step"], second["steps"]), (20, 51))
        code, err, third = self.outcome(*SHORT, "--resume", "auto")
        self.assertEqual(code, 0, err)
        self.assertEqual(pathlib.Path(third["directory"]).name, "0002")
        self.assertEqual(third["first_step"], 0)
        self.assertIn(f"note: a new run begins: the newest run of that name, {self.folder}/runs/digits/0001, is finished: "
                      "to train it further give its path to --resume\n", err)
        code, err, _ = self.outcome(*SHORT, "--set", 'name="first"', "--resume", "auto")
        self.assertEqual(code, 0, err)
        self.assertNotIn("a new run begins", err)

    def test_must_without_anything_to_go_on_with_is_exit_9(self):
        code, _, err = self.run_digits(*SHORT, "--resume", "must")
        self.assertEqual(code, 9, err)
        self.interrupt_at(5)
        self.assertEqual(self.run_digits(*SHORT, "--resume", "must")[0], 0)
        code, _, err = self.run_digits(*SHORT, "--resume", "must")
        self.assertEqual(code, 9, err)
        self.assertIn("0001", err)

    def test_a_path_of_a_checkpoint_branches_off_and_leaves_the_run_alone(self):
        self.assertEqual(self.run_digits(*SHORT)[0], 0)
        old = self.folder / "runs/digits/0001"
        before = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
        code, err, outcome = self.outcome(*SHORT, "--resume", "runs/digits/0001/checkpoints/step-000034")
        self.assertEqual(code, 0, err)
        self.assertEqual((outcome["first_step"], outcome["steps"]), (34, 51))
        self.assertEqual(pathlib.Path(outcome["directory"]).name, "0002")
        self.assertEqual(before, {path: path.read_bytes() for path in old.rglob("*") if path.is_file()})
        for file in (old / "checkpoints/step-000051").iterdir():
            self.assertEqual(file.read_bytes(),
                             (self.folder / "runs/digits/0002/checkpoints/step-000051" / file.name).read_bytes())

    def test_a_path_of_a_run_directory_goes_on_in_it(self):
        self.interrupt_at(20)
        own = self.folder / "runs/digits/0001"
        for path, first, stop in (("runs/digits/0001/", 20, 30), (str(own), 30, 51)):
            options = ["--interrupt-at", str(stop)] if stop < 51 else []
            code, err, outcome = self.outcome(*SHORT, "--resume", path, *options)
            self.assertEqual(code, 75 if options else 0, err)
            self.assertIn(f"Resuming runs/digits/0001 at step {first}", err)
            self.assertEqual((outcome["first_step"], outcome["steps"]), (first, stop))
            self.assertEqual(outcome["steps_executed"], stop - first)
            self.assertEqual(outcome["directory"], str(own))
        self.assertEqual(os.listdir(own.parent), ["0001"])
        code, err, straight = self.outcome(*SHORT)
        self.assertEqual((code, pathlib.Path(straight["directory"]).name), (0, "0002"), err)
        files = sorted((own / "checkpoints/step-000051").iterdir())
        self.assertGreaterEqual(len(files), 5)
        for file in files:
            other = own.parent / "0002/checkpoints/step-000051" / file.name
            self.assertTrue(file.read_bytes() == other.read_bytes(), f"{file.name} differs")

    def test_a_path_of_a_run_directory_takes_that_run_though_there_is_a_newer_one(self):
        self.interrupt_at(5)
        self.interrupt_at(20)
        self.assertEqual(sorted(os.listdir(self.folder / "runs/digits")), ["0001", "0002"])
        code, err, outcome = self.outcome(*SHORT, "--resume", "runs/digits/0001")
        self.assertEqual(code, 0, err)
        self.assertEqual((pathlib.Path(outcome["directory"]).name, outcome["first_step"]), ("0001", 5))

    def test_a_path_that_is_no_run_starts_nothing(self):
        self.interrupt_at(5)
        for path, expected, text in (("runs/digits/0009", 2, "none of them"),
                                     ("runs/digits", 9, "neither a run directory"),
                                     ("digits.json", 2, "none of them")):
            with self.subTest(path=path):
                code, out, err = self.run_digits(*SHORT, "--resume", path)
                self.assertEqual((code, out), (expected, ""), err)
                self.assertIn(path, err)
                self.assertIn(text, err)
        self.assertEqual(os.listdir(self.folder / "runs/digits"), ["0001"])

    def test_a_changed_rate_is_refused_until_it_is_accepted(self):
        self.interrupt_at(5)
        changed = [*SHORT, "--set", "vars.lr=0.001", "--resume", "auto"]
        code, _, err = self.run_digits(*changed)
        self.assertEqual(code, 2, err)
        self.assertIn("--accept lr", err)
        self.assertIn("--resume never", err)
        self.assertNotIn("step-000006", str(list(self.folder.rglob("*"))))
        code, _, err = self.run_digits(*changed, "--accept", "lr")
        self.assertEqual(code, 0, err)

    def write_table(self, folder, shift=0.0):
        random = numpy.random.default_rng(0)
        folder.mkdir(exist_ok=True)
        numpy.save(folder / "x.npy", random.normal(size=(20, 3)).astype(numpy.float32) + numpy.float32(shift))
        numpy.save(folder / "y.npy", random.normal(size=(20, 2)).astype(numpy.float32))

    def interrupted_project(self):
        """A pipeline with its data and weights beside it, stopped in the middle."""
        project = self.folder / "project"
        self.write_table(project)
        data = [{"name": name, "path": f"{name}.npy", "dtype": "float32", "shape": [size]}
                for name, size in (("x", 3), ("y", 2))]
        (project / "pipe.json").write_text(json.dumps({
            "format": 1, "name": "moved", "run": {"seed": 1, "device": "cpu", "threads": 1},
            "nodes": {
                "data": {"use": "dataset:npy", "with": {"fields": data}},
                "train": {"use": "loader:threads", "in": "data", "with": {"batch": 5}},
                "net": {"use": "model:mlp", "in": {"x": "batch.x"},
                        "with": {"input": "x", "output": "value", "size": 2, "hidden": []}},
                "loss": {"use": "loss:mse", "in": {"prediction": "net.value", "target": "batch.y"}},
                "opt": {"use": "optimizer:sgd", "of": "net"}},
            "fit": {"data": "train", "loss": "loss", "epochs": 3}, "observe": []}))
        self.assertEqual(self.in_project("--interrupt-at", "5").code, 75)
        return project

    def in_project(self, *options, name="project"):
        whole, self.folder = self.folder, self.folder / name
        try:
            return self.tenon("run", "pipe.json", *options)
        finally:
            self.folder = whole

    def test_a_project_that_was_moved_as_a_whole_goes_on_without_a_word(self):
        project = self.interrupted_project()
        project.rename(self.folder / "elsewhere")
        code, _, err = self.in_project("--resume", "must", name="elsewhere")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"(?m)^Resuming runs/moved/0001 at step 5\n(?!  )")
        code, _, err = self.in_project(name="elsewhere")
        self.assertEqual(code, 0, err)
        runs = self.folder / "elsewhere/runs/moved"
        for file in (runs / "0001/checkpoints/step-000012").iterdir():
            self.assertEqual(file.read_bytes(), (runs / "0002/checkpoints/step-000012" / file.name).read_bytes())

    def test_data_that_lies_elsewhere_goes_on_and_other_data_is_refused(self):
        self.interrupted_project()
        elsewhere = ["--resume", "must", "--set", 'nodes.data.with.fields.0.path="../other/x.npy"']
        self.write_table(self.folder / "other", shift=1)
        code, _, err = self.in_project(*elsewhere)
        self.assertEqual(code, 2, err)
        self.assertIn("--accept data", err)
        self.write_table(self.folder / "other")
        code, _, err = self.in_project(*elsewhere)
        self.assertEqual(code, 0, err)
        self.assertIn("what the file holds counts", err)

    def test_data_that_changed_in_a_moved_project_is_refused(self):
        project = self.interrupted_project()
        project.rename(self.folder / "elsewhere")
        self.write_table(self.folder / "elsewhere", shift=1)
        code, _, err = self.in_project("--resume", "must", name="elsewhere")
        self.assertEqual(code, 2, err)
        self.assertIn("--accept data", err)

    def test_another_optimizer_begins_with_fresh_state_once_accepted(self):
        self.interrupt_at(20)
        swapped = [*SHORT, "--set", 'nodes.opt={"use":"optimizer:sgd","of":"net","with":{"lr":0.01}}', "--resume", "auto"]
        code, _, err = self.run_digits(*swapped)
        self.assertEqual(code, 2, err)
        self.assertIn("--accept optimizer", err)
        code, _, err = self.run_digits(*swapped, "--accept", "optimizer")
        self.assertEqual(code, 0, err)

    def test_other_workers_go_on_without_being_asked_and_give_the_same_bytes(self):
        self.interrupt_at(5)
        self.assertEqual(self.run_digits(*SHORT, "--resume", "auto", "--set", "nodes.train.with.workers=3")[0], 0)
        self.assertEqual(self.run_digits(*SHORT)[0], 0)
        runs = self.folder / "runs/digits"
        for file in (runs / "0001/checkpoints/step-000051").iterdir():
            self.assertEqual(file.read_bytes(), (runs / "0002/checkpoints/step-000051" / file.name).read_bytes())

    def test_a_live_run_is_not_taken_from_its_process(self):
        process = self.started()
        try:
            code, _, err = self.run_digits(*LONG, "--resume", "auto")
            self.assertEqual(code, 10, err)
            self.assertIn("running", err)
        finally:
            process.kill()
            process.communicate()

    def test_mistyped_words_get_their_fix(self):
        code, _, err = self.run_digits("--resume", "atuo")
        self.assertEqual(code, 2, err)
        self.assertIn("auto", err)
        code, _, err = self.run_digits("--accept", "learning_rate")
        self.assertEqual(code, 2, err)
        code, _, err = self.run_digits("--interrupt-at", "0")
        self.assertEqual(code, 2, err)
        self.assertFalse((self.folder / "runs").exists())


class EvalTest(ProgramTest):
    def test_the_best_checkpoint_gives_the_runs_own_numbers_to_the_last_digit(self):
        code, _, err = self.tenon("run", "digits.json", *SHORT, "--outcome", "outcome.json")
        self.assertEqual(code, 0, err)
        outcome = json.loads((self.folder / "outcome.json").read_text())
        for on in ("test", "validate"):
            code, out, err = self.tenon("eval", "runs/digits/0001", "--on", on, "--format", "json")
            self.assertEqual(code, 0, err)
            own = outcome["test" if on == "test" else "validation"]
            self.assertEqual(json.loads(out)["metrics"], own)
            code, out, err = self.tenon("eval", outcome["tested_checkpoint"], "--on", on)
            self.assertEqual(code, 0, err)
            for key, value in own.items():
                self.assertIn(f"{key}  {value!r}", out)

    def test_every_kept_checkpoint_is_measured_as_the_index_says_and_nothing_changes(self):
        self.assertEqual(self.tenon("run", "digits.json", *SHORT)[0], 0)
        run = self.folder / "runs/digits/0001"
        before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in run.rglob("*") if path.is_file()}
        index = json.loads((run / "checkpoints/index.json").read_text())
        measured = 0
        for record in index["history"]:
            if not record["kept"]:
                continue
            code, out, err = self.tenon("eval", f"{run}/checkpoints/step-{record['step']:06}", "--on", "validate",
                                        "--format", "json")
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["metrics"], record["metrics"])
            measured += 1
        self.assertGreaterEqual(measured, 2)
        self.assertEqual(before,
                         {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in run.rglob("*") if path.is_file()})

    def test_what_is_no_run_is_told(self):
        code, _, err = self.tenon("eval", "digits.json")
        self.assertEqual(code, 9, err)
        self.assertIn("neither a run directory", err)

    def test_a_section_that_is_not_there_is_told(self):
        self.assertEqual(self.tenon("run", "digits.json", *SHORT)[0], 0)
        config = self.folder / "runs/digits/0001/config.resolved.json"
        pipeline = json.loads(config.read_text())
        del pipeline["test"]
        for name in ("test", "test_x", "test_set"):
            del pipeline["nodes"][name]
        config.write_text(json.dumps(pipeline))
        code, _, err = self.tenon("eval", "runs/digits/0001", "--on", "test")
        self.assertEqual(code, 2, err)
        self.assertIn('no section "test"', err)


if __name__ == "__main__":
    unittest.main()
