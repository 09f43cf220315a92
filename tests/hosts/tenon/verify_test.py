"""`tenon verify`: what it prints, what it leaves behind, and what it makes of runs that cannot be made."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from program import BUILD, PROGRAM, TIME_LIMIT, ProgramTest

SHORT = ["--set", "vars.epochs=1", "--set", 'nodes.sched.with.warmup="5 steps"', "--set", "nodes.net.with.width=4"]
LONG = ["--set", "vars.epochs=2000"]


class VerifyTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.scratch = self.folder.parent / "scratch"
        self.scratch.mkdir()

    def environment(self, **more):
        return super().environment(TMPDIR=str(self.scratch), **more)

    def running(self):
        """Processes that run in folders of proofs."""
        running = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if str(self.scratch).encode() in (process / "cmdline").read_bytes():
                    running.append(process.name)
            except OSError:  # it has ended meanwhile
                pass
        return running

    def end(self, process):
        """Ends a proof that a failed test left behind, and with it what it started."""
        if process.poll() is None:
            process.kill()
            process.wait()

    def leftovers(self):
        """Folders of proofs, and processes that run in them."""
        return self.running() + os.listdir(self.scratch)

    def test_a_place_a_line_and_a_last_line_as_the_proof(self):
        code, out, err = self.tenon("verify", "resume", "digits.json", *SHORT, "--at", "1,7,23,7,end")
        self.assertEqual(code, 0, err)
        *table, last = out.splitlines()
        self.assertEqual([re.split(r"  +", line.strip())[:3] for line in table],
                         [["stopped at", "steps again", "samples twice"], ["step 1", "0", "0"],
                          ["step 7", "0", "0"], ["step 17", "0", "0"]])
        self.assertTrue(all(line.endswith("equal") for line in table[1:]), out)
        self.assertRegex(last, r"^resumes to the same bytes: 3 resumed runs compared, \d{5,} bytes; "
                               r"no step made again, no sample read twice$")
        self.assertIn("left out, beyond the last step: 23\n", err)
        self.assertEqual(self.leftovers(), [])
        self.assertEqual(os.listdir(self.folder), ["digits.json"])

    def test_the_result_for_programs_is_one_object(self):
        code, out, err = self.tenon("verify", "resume", "digits.json", *SHORT, "--at", "7,23", "--format", "json")
        self.assertEqual(code, 0, err)
        result = json.loads(out)
        self.assertEqual((result["equal"], result["steps"], result["beyond"]), (True, 17, [23]))
        [place] = result["places"]
        self.assertEqual(result["bytes"], place["bytes"])
        keys = ("step", "steps_again", "samples_again", "equal", "differences", "log")
        self.assertEqual([place[key] for key in keys], [7, 0, 0, True, [], None])
        for line in err.splitlines():
            json.loads(line)

    def test_repro_tells_the_settings_of_each_run(self):
        code, out, err = self.tenon("verify", "repro", "digits.json", *SHORT, "--times", "3")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"(?m)^  1 +as configured$")
        self.assertRegex(out, r"(?m)^  2 +0 workers, prefetch 1 +1 +5 +\d+ +equal$")
        self.assertRegex(out, r"(?m)^  3 +2 workers, prefetch 4 +1 +5 +\d+ +equal$")
        self.assertRegex(out.splitlines()[-1], r"^gives the same bytes each time: 3 runs compared, \d{5,} bytes")
        self.assertEqual(self.leftovers(), [])

    def test_what_hangs_on_threads_and_processes_is_caught(self):
        def change(pipeline):
            pipeline["nodes"]["shift"] = {"use": "transform:by_thread", "in": "train_set"}
            pipeline["nodes"]["train"]["with"]["workers"] = 3

        pipe = [self.demo(change), *SHORT, "--plugin-path", str(BUILD / "tests" / "plugins" / "tenon_by_thread.so")]
        code, out, err = self.tenon("verify", "repro", *pipe)
        self.assertEqual(code, 8, err)
        self.assertRegex(out, r"(?m)^  2 .*differs: exp_avg/net\S+ in optimizer\.opt\.safetensors$")
        self.assertRegex(err, r"error\[verification\]: run 2 \(0 workers, prefetch 1\) is not the same as run 1: its checkpoint "
                              r"step-000017 differs, first exp_avg/net\S+ of opt, optimizer:adamw, in "
                              r"optimizer.opt.safetensors: \d+ of \d+ elements")
        code, out, err = self.tenon("verify", "resume", *pipe, "--set", "nodes.train.with.workers=0", "--at", "5,end")
        self.assertEqual(code, 8, err)
        self.assertRegex(out, r"(?m)^  step 5 +0 +0 .*differs: exp_avg/net\S+ in optimizer\.opt\.safetensors$")
        self.assertRegex(out, r"(?m)^  step 17 +0 +0 .*equal$")
        self.assertRegex(err, r"error\[verification\]: the run that was stopped at step 5 and resumed is not the one that never "
                              r"stopped. Already after its first step, 6, \d+ entries of the checkpoint differ, first "
                              r"exp_avg/net\.")
        self.assertEqual(self.leftovers(), [])

    def test_what_leaves_training_alone_is_left_out(self):
        kept = self.folder / "kept"
        code, _, err = self.tenon("verify", "resume", "digits.json", *SHORT, "--at", "end", "--keep", "kept",
                                  "--set", 'validate.every="0.001 s"', "--set", 'checkpoint.every=["0.001 s"]')
        self.assertEqual(code, 0, err)
        self.assertEqual(sorted(path.name for path in kept.iterdir() if path.is_dir()), ["at-17", "straight"])
        events = [json.loads(line)["event"]
                  for line in (kept / "straight/digits/0001/log.jsonl").read_text().splitlines()]
        self.assertEqual((events.count("test"), events.count("export")), (0, 0))
        self.assertEqual((events.count("validate"), events.count("checkpoint")), (1, 1))
        self.assertEqual(list((kept / "straight/digits/0001/exports").iterdir()), [])
        self.assertEqual(self.leftovers(), [])

    def test_paths_count_from_where_they_are_written(self):
        (self.folder / "deep").mkdir()
        (self.folder / "digits.json").rename(self.folder / "deep" / "base.json")
        self.write("deep/pipe.json", '{"extends": "base.json", "vars": {"epochs": 1}}')
        self.write("overlay.json", '{"nodes": {"net": {"with": {"width": 4}}}}')
        code, _, err = self.tenon("verify", "resume", "deep/pipe.json", "--overlay", "overlay.json", "--at", "3",
                                  "--set", 'nodes.sched.with.warmup="5 steps"')
        self.assertEqual(code, 0, err)

    def test_mistakes_are_told_before_anything_starts(self):
        for at in ("0", "-1", "x", "1,,2", "1.5", "1, 2", "99999999999999999999", "End"):
            with self.subTest(at=at):
                code, out, err = self.tenon("verify", "resume", "digits.json", f"--at={at}")
                self.assertEqual((code, out), (2, ""))
                self.assertIn('--at takes steps from 1 on, and "end", with commas between them', err)
        for times in ("1", "0", "x", "101", "2.0"):
            with self.subTest(times=times):
                code, out, err = self.tenon("verify", "repro", "digits.json", f"--times={times}")
                self.assertEqual((code, out), (2, ""))
                self.assertIn("--times takes a number of runs from 2 to 100", err)
        for kind in ("resume", "repro"):
            with self.subTest(kind=kind):
                wrong = ["digits.json", "--set", "nodes.opt.with.rl=1"]
                self.assertEqual(self.tenon("verify", kind, *wrong)[1:], ("", self.tenon("check", *wrong).err))
        self.assertEqual(self.leftovers(), [])

    def test_no_place_within_the_run_proves_nothing(self):
        code, out, err = self.tenon("verify", "resume", "digits.json", *SHORT, "--at", "18,500")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("training ends after step 17, so nothing was compared", err)

    def test_an_error_of_a_run_is_told_in_its_own_words_and_with_its_code(self):
        for command in ("resume", "repro"):
            with self.subTest(command=command):
                code, out, err = self.tenon("verify", command, "digits.json", *SHORT, "--set", "vars.lr=1e30")
                self.assertEqual((code, out), (5, ""), err)
                self.assertIn("ended with exit code 5; it said:", err)
                self.assertIn("training diverged at step", err)
                self.assertEqual(self.leftovers(), [])

    def test_a_folder_that_cannot_be_made_is_told(self):
        code, out, err = self.tenon("verify", "resume", "digits.json", "--keep", "digits.json/kept")
        self.assertEqual((code, out), (10, ""))
        self.assertIn("digits.json/kept", err)

    def test_an_interruption_ends_the_running_process_and_leaves_nothing(self):
        for number, to_all, expected in ((signal.SIGINT, False, 130), (signal.SIGINT, True, 130),
                                         (signal.SIGTERM, False, 143)):
            with self.subTest(signal=number.name, to_all=to_all):
                process = subprocess.Popen([PROGRAM, "verify", "resume", "digits.json", *LONG], cwd=self.folder,
                                           env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           start_new_session=True)
                self.addCleanup(self.end, process)
                deadline = time.monotonic() + TIME_LIMIT
                while not list(self.scratch.glob("*/straight/digits/0001/checkpoints/step-*")):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
                if to_all:
                    os.killpg(process.pid, number)
                else:
                    process.send_signal(number)
                out, err = process.communicate(timeout=TIME_LIMIT)
                self.assertEqual((process.returncode, out, err), (expected, b"", b""))
                self.assertEqual(self.leftovers(), [])

    def test_a_run_ends_with_the_proof_that_is_killed(self):
        process = subprocess.Popen([PROGRAM, "verify", "resume", "digits.json", *LONG], cwd=self.folder,
                                   env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        deadline = time.monotonic() + TIME_LIMIT
        while not list(self.scratch.glob("*/straight/digits/0001/checkpoints/step-*")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(len(self.running()), 1)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 5
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.running(), [])

    def test_a_program_whose_parent_has_gone_already_does_not_begin(self):
        for parent, expected in ((os.getpid(), 0), (2**22 + 1, -signal.SIGKILL)):  # beyond the largest number there is
            made = subprocess.run([PROGRAM, "--version"], env=self.environment(TENON_PARENT=str(parent)),
                                  stdout=subprocess.DEVNULL, timeout=TIME_LIMIT, check=False)
            self.assertEqual(made.returncode, expected)


if __name__ == "__main__":
    unittest.main()
