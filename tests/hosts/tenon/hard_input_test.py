"""Extreme but well-formed input: each ends with a message, a place and the documented exit code."""

import os
import resource
import shutil
import subprocess
import unittest

from program import BUILD, PROGRAM, TIME_LIMIT, ProgramTest

PLUGINS = BUILD / "lib" / "tenon" / "plugins"


class HardInputTest(ProgramTest):
    def assert_ends(self, expected, part, *arguments, env=None):
        code, _, err = self.tenon(*arguments, env=env)
        self.assertEqual(code, expected, err)
        self.assertIn(part, err)

    def test_numbers_beyond_reason_are_configuration_errors(self):
        for change, part in [
            ("fit.accumulate=9223372036854775807", "/fit/accumulate"),
            ("fit.epochs=9223372036854775807", "/fit/epochs"),
            ("run.threads=9223372036854775807", "/run/threads"),
            ("nodes.train.with.batch=9223372036854775807", "/nodes/train/with/batch"),
            ('fit.loss={"loss":0}', "/fit/loss"),
        ]:
            with self.subTest(change):
                self.assert_ends(2, part, "check", "digits.json", "--set", change)

    def test_a_pipeline_without_nodes_is_an_error(self):
        for text in ("{}", '{"format":1}', '{"format":1,"name":"x","nodes":{},"fit":{"data":"a","loss":"b","epochs":1}}'):
            (self.folder / "bare.json").write_text(text)
            with self.subTest(text):
                self.assert_ends(2, "nodes", "check", "bare.json")

    def test_a_folder_with_a_nul_character_is_refused(self):
        self.assert_ends(2, "NUL", "run", "digits.json", "--set", 'run.dir="a\\u0000b"')

    def test_a_folder_that_cannot_be_written_is_told_at_its_place(self):
        self.assert_ends(10, "/run/dir", "run", "digits.json", "--set", 'run.dir="/proc/runs"')

    def test_memory_that_is_not_there_is_exit_6_with_the_node(self):
        self.assert_ends(6, '"opt"', "run", "digits.json", "--set", "nodes.net.with.classes=10000000000000")

    def test_a_limit_of_open_files_is_raised_where_it_may_be_and_else_told_once(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        for limits, expected in (((20, hard), 0), ((24, 24), 10)):
            with self.subTest(limits=limits):
                done = subprocess.run(
                    [PROGRAM, "check", "digits.json", "--shapes"], cwd=self.folder, env=self.environment(),
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits))
                self.assertEqual(done.returncode, expected, done.stderr)
                if expected:
                    self.assertEqual(done.stderr.count("error"), 1, done.stderr)
                    self.assertIn("Too many open files (the limit of this process is 24, as is its hard limit, which an "
                                  "administrator raises", done.stderr)

    def test_a_plugin_file_that_is_named_and_refused_ends_the_command(self):
        (self.folder / "text.so").write_text("not a library")
        self.assert_ends(3, "text.so", "check", "digits.json", "--plugin-path", str(self.folder / "text.so"))

    def test_a_refused_plugin_that_would_bring_what_is_used_is_told(self):
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(PLUGINS / "tenon_losses.so", other)
        manifest = self.folder / "manifest.json"
        subprocess.run(["objcopy", "--dump-section", f".tenon.manifest={manifest}", other / "tenon_losses.so"], check=True)
        manifest.write_text(manifest.read_text().replace("libtorch=2.11.0", "libtorch=2.10.0"))
        subprocess.run(["objcopy", "--update-section", f".tenon.manifest={manifest}", other / "tenon_losses.so"], check=True)
        code, _, err = self.tenon("check", "digits.json", env={"TENON_PLUGIN_PATH": str(other)})
        self.assertEqual(code, 0, err)
        self.assertIn("shadowed-plugin", err)
        self.assertIn("2.10.0", err)

    def test_a_reader_of_the_progress_that_leaves_does_not_end_training(self):
        read, write = os.pipe()
        process = subprocess.Popen(
            [PROGRAM, "run", "digits.json", "--set", "vars.epochs=4"], cwd=self.folder, env=self.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=write)
        os.close(write)
        os.read(read, 1)
        os.close(read)
        out, _ = process.communicate(timeout=TIME_LIMIT)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"digits is trained", out)


if __name__ == "__main__":
    unittest.main()
