"""Ctrl-C while data is read once, before the first step."""

import json
import signal
import subprocess
import time
import unittest

from program import BUILD, PROGRAM, TIME_LIMIT, ProgramTest

FAULTY = ["--plugin-path", str(BUILD / "tests" / "plugins" / "tenon_faulty.so")]


class DataInterruptTest(ProgramTest):
    def interrupted(self, *options):
        """Exit code, seconds, standard error of a run that hangs in its data and is interrupted."""
        mark = self.folder / "hangs"
        mark.unlink(missing_ok=True)
        stalling = json.dumps({"use": "dataset:stalling",
                               "with": {"after": 300, "milliseconds": 60000, "mark": str(mark)}})
        process = subprocess.Popen([PROGRAM, "run", "digits.json", *FAULTY, "--set", f"nodes.train_set={stalling}",
                                    *options], cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + TIME_LIMIT
        while not mark.exists():  # from then on it hangs for a minute
            self.assertIsNone(process.poll(), "the run does not hang")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIME_LIMIT)
        return process.returncode, time.monotonic() - begin, err

    def test_a_samplers_pass_ends_soon_with_130(self):
        loader = json.dumps({"batch": 64, "sampler": {"balance": "label"}})
        for more in ([], ["--no-preflight"]):
            code, seconds, err = self.interrupted("--set", f"nodes.train.with={loader}", *more)
            self.assertEqual(code, 130, err)
            self.assertLess(seconds, 5)  # half a second is given to the thread that hangs
            self.assertIn("Interrupted by SIGINT", err)
            self.assertFalse(list((self.folder / "runs").glob("*/0*")) if (self.folder / "runs").exists() else [])


if __name__ == "__main__":
    unittest.main()
