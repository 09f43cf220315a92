"""`tenon run`: a short training, its table and its files; and runs that cannot start or cannot end well."""

import fcntl
import json
import os
import pathlib
import pty
import re
import shlex
import struct
import subprocess
import termios
import unittest

from program import BUILD, PROGRAM, TIME_LIMIT, ProgramTest

SHORT = ["--set", "vars.epochs=4"]
FAULTY = ["--plugin-path", str(BUILD / "tests" / "plugins")]
PYTHON = os.environ.get("TENON_PYTHON", "python3")


class RunTest(ProgramTest):
    def shell(self, line):
        return subprocess.run(line, shell=True, cwd=self.folder, env=self.environment(), capture_output=True,
                              text=True, timeout=TIME_LIMIT)

    def rows(self, out):
        """The closing table: label and value."""
        return dict(re.findall(r"^  (\w+(?: \w+)*)  +(.+)$", out.partition("\nWhat next\n")[0], re.MULTILINE))

    def test_a_run_ends_with_a_table_and_with_what_to_do_next(self):
        code, out, err = self.tenon("run", "digits.json", *SHORT)
        self.assertEqual(code, 0, err)
        rows = self.rows(out)
        self.assertEqual(
            list(rows),
            ["test accuracy", "validation accuracy", "training", "run directory", "best checkpoint", "export script"])
        self.assertGreater(float(rows["test accuracy"]), 0.3)
        self.assertRegex(rows["validation accuracy"], r"^0\.\d{4} at step 68 after 4 epochs \(best and last\)$")
        self.assertRegex(rows["training"],
                         r"^4 epochs, 68 steps in \d+\.\d s, \d+ samples/s, "
                         r"at most \d+\.\d [MG]iB of memory$")
        self.assertEqual(rows["run directory"], "runs/digits/0001")
        self.assertTrue((self.folder / rows["best checkpoint"] / "manifest.json").is_file())
        file, size, verdict = rows["export script"].split(", ", 2)
        bytes_of_file = (self.folder / file).stat().st_size
        self.assertEqual(size, f"{bytes_of_file / 1024:.1f} KiB")
        self.assertRegex(verdict, r"^verified: largest error \S+ over batches of 1, 3, 17$")

        following = out.partition("\nWhat next\n")[2]
        commands = [line.strip() for line in following.splitlines() if not line.startswith("  #")]
        self.assertEqual(len(commands), 5)
        evaluate, inspect, python, explain, again = commands
        self.assertEqual(shlex.split(evaluate), [str(PROGRAM), "eval", "runs/digits/0001"])
        self.assertEqual(shlex.split(inspect), [str(PROGRAM), "inspect", "runs/digits/0001"])
        self.assertEqual(shlex.split(explain), [str(PROGRAM), "explain", "digits.json", *SHORT])
        self.assertEqual(shlex.split(again), [str(PROGRAM), "run", "digits.json", *SHORT, "--set", "vars.lr=0.001"])
        for command in (evaluate, inspect, explain, again.replace(" run ", " check ")):
            self.assertEqual(self.shell(command).returncode, 0, command)
        self.assertTrue(python.startswith("python3 -c "))
        if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0:
            loaded = self.shell(shlex.quote(PYTHON) + python.removeprefix("python3"))
            self.assertEqual(loaded.returncode, 0, loaded.stderr)
            self.assertIn("RecursiveScriptModule", loaded.stdout)

    def test_the_table_compares_the_best_with_the_last(self):
        net = {"use": "model:mlp", "in": {"image": "batch.image"}, "with": {"classes": 10}}
        same_weights = ["--set", "vars.epochs=3", "--set", "vars.lr=1e-30", "--set", f"nodes.net={json.dumps(net)}"]
        code, out, err = self.tenon("run", "digits.json", *same_weights, "--set", "export=[]")  # the earliest is the best
        self.assertEqual(code, 0, err)
        rows = self.rows(out)
        self.assertRegex(rows["test accuracy"], r"^0\.\d{4} \(best\)$")
        self.assertRegex(rows["validation accuracy"], r"^(0\.\d{4}) at step 17 after 1 epoch \(best\); \1 at the end$")
        self.assertEqual(rows["best checkpoint"], "runs/digits/0001/checkpoints/step-000017")
        self.assertEqual(rows["last checkpoint"], "runs/digits/0001/checkpoints/step-000051")

    def test_without_a_choice_the_last_is_what_counts(self):
        code, out, err = self.tenon("run", "digits.json", "--set", "vars.epochs=3", "--set", "export=[]", "--set",
                                    "stop=[]", "--set", "checkpoint.keep={}")
        self.assertEqual(code, 0, err)
        rows = self.rows(out)
        self.assertRegex(rows["validation accuracy"], r"^0\.\d{4} at step 51 after 3 epochs \(last\)$")
        self.assertEqual(rows["last checkpoint"], "runs/digits/0001/checkpoints/step-000051")
        self.assertNotIn("best checkpoint", rows)

    def test_several_validations_are_told_apart(self):
        named = {name: {"data": "val", "metrics": ["acc"]} for name in ("clean", "again")}
        pipeline = self.demo(lambda demo: demo.update(
            {"validate": named, "stop": [], "export": [], "checkpoint": {"keep": {"best": {"metric": "validate.clean.acc"}}}}))
        code, out, err = self.tenon("run", pipeline, "--set", "vars.epochs=3")
        self.assertEqual(code, 0, err)
        rows = self.rows(out)
        self.assertRegex(rows["validation clean accuracy"], r"^0\.\d{4} at step 51 after 3 epochs \(best and last\)$")
        self.assertRegex(rows["validation again accuracy"], r"^0\.\d{4} \(best and last\)$")

    def test_progress_that_is_piped_has_bounded_lines(self):
        code, out, err = self.tenon("run", "digits.json", *SHORT)
        self.assertEqual(code, 0, err)
        self.assertNotIn("\r", out + err)
        self.assertNotIn("\x1b", out + err)
        self.assertLess(len(err.splitlines()), 40)

    def test_a_terminal_gets_the_table_too(self):
        code, out, _ = self.tenon_on_terminal("run", "digits.json", *SHORT)
        self.assertEqual(code, 0, out)
        self.assertIn("run directory", out)
        self.assertIn("\x1b[", out)

    def test_the_table_fits_into_the_terminal(self):
        for columns, label, value in ((80, "  validation accuracy  0.", "                       largest error"),
                                      (40, "validation accuracy\n  0.", ", verified: largest error 0\n  over")):
            with self.subTest(columns=columns):
                main, side = pty.openpty()
                fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
                process = subprocess.run(
                    [PROGRAM, "run", "digits.json", *SHORT, "--color", "never"], cwd=self.folder,
                    env=self.environment(), stdin=subprocess.DEVNULL, stdout=side, stderr=subprocess.PIPE,
                    timeout=TIME_LIMIT)
                os.close(side)
                shown = os.read(main, 65536).decode().replace("\r\n", "\n")  # less than the terminal's buffer holds
                os.close(main)
                self.assertEqual(process.returncode, 0, process.stderr)
                table = shown.partition("\nWhat next\n")[0]
                self.assertIn(label, table)
                self.assertIn(value, table)
                too_long = [line for line in table.splitlines() if len(line) > columns and "/" not in line]
                self.assertEqual(too_long, [], "lines that are no path")

    def test_a_wrong_pipeline_starts_nothing(self):
        code, out, err = self.tenon("run", "digits.json", "--set", "nodes.opt.with.rl=1")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("1 error; nothing was started", err)
        self.assertEqual(os.listdir(self.folder), ["digits.json"])

    @unittest.skipIf(pathlib.Path("/dev/nvidia0").exists(), "there is a GPU")
    def test_a_gpu_that_is_not_there_is_an_error_at_its_setting(self):
        code, out, err = self.tenon("run", "digits.json", "--set", 'run.device="cuda"')
        self.assertEqual((code, out), (2, ""))
        self.assertIn("no NVIDIA driver", err)
        self.assertIn("--> --set run.device=…  /run/device", err)
        self.assertFalse((self.folder / "runs").exists())

    def test_a_run_that_cannot_be_written_ends_with_10(self):
        code, out, err = self.tenon("run", "digits.json", "--set", 'run.dir="digits.json"')
        self.assertEqual((code, out), (10, ""))
        self.assertTrue(err.startswith("error"), err)
        self.assertIn("digits.json: Not a directory", err)
        self.assertIn("--> --set run.dir=…  /run/dir", err)

    def test_a_libtorch_that_is_not_there_ends_with_3(self):
        code, out, err = self.tenon("run", "digits.json", env={"TENON_LIBTORCH": str(self.folder)})
        self.assertEqual((code, out), (3, ""))
        self.assertIn("error[no-libtorch]", err)
        self.assertIn(str(self.folder), err)

    def assert_one_error(self, err, line):
        """`line`: a regular expression for the whole of the only error. Gives that line."""
        errors = [text for text in err.splitlines() if re.search(r"\berror\b", text)]
        self.assertEqual(len(errors), 1, err)
        self.assertRegex(errors[0], f"^{line}$")
        self.assertNotIn("Traceback", err)
        self.assertNotIn("terminate called", err)
        return errors[0]

    def run_with(self, node, value, *options):
        return self.tenon("run", "digits.json", *SHORT, *FAULTY, "--set", f"nodes.{node}={json.dumps(value)}", *options)

    def test_a_transform_that_throws_ends_the_run_with_4_and_one_line_that_names_the_sample(self):
        throwing = {"use": "transform:throwing", "in": "train_set", "with": {"probability": 0.01}}
        told = []
        for workers in (0, 2):
            with self.subTest(workers=workers):
                code, out, err = self.run_with("shift", throwing, "--set", f"nodes.train.with.workers={workers}")
                self.assertEqual((code, out), (4, ""), err)
                told.append(self.assert_one_error(
                    err, r'error\[data\]: "shift" \(transform:throwing\), sample \d+ of "train_set", epoch 0: '
                         "this sample is unreadable"))
                self.assertIn("/nodes/shift/use", err)
        self.assertEqual(len(set(told)), 1, "the number of workers decides about the sample")

    def test_an_export_that_is_refused_ends_with_8_and_leaves_no_file(self):
        baked = {"use": "model:faulty", "in": {"image": "batch.image"}, "with": {"fault": "baked_batch"}}
        scaled = {"use": "exporter:faulty", "of": "net", "with": {"fault": "scaled_weight"}}
        second_process = "the file does not run in a second process at batch 1: .*"
        differs = 'at batch 1 the output "logits" of the file differs from the live model by .*'
        for number, (node, value, component, cause) in enumerate(
                (("net", baked, "torchscript", second_process), ("script", scaled, "faulty", differs)), 1):
            with self.subTest(component=component):
                code, out, err = self.run_with(node, value, "--no-preflight")
                self.assertEqual((code, out), (8, ""), err)
                self.assert_one_error(
                    err, rf'error\[verification\]: exporter "script" \(exporter:{component}\): {cause}')
                directory = self.folder / "runs" / "digits" / f"{number:04}"
                self.assertEqual(list((directory / "exports").rglob("*")), [])
                self.assertTrue((directory / "checkpoints" / "step-000068" / "manifest.json").is_file())


if __name__ == "__main__":
    unittest.main()
