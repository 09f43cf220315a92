"""Help and checks answer at once: help in 50 ms, a check of the demo in 150 ms."""

import time
import unittest

from program import ProgramTest

RUNS = 15
SLACK = 3  # Machines that run tests are slower and busier than those of users.


class TimingTest(ProgramTest):
    def best(self, *words):
        """The fastest of several runs, in milliseconds: what the program itself takes."""
        times = []
        for _ in range(RUNS):
            begin = time.perf_counter()
            code = self.tenon(*words).code
            times.append((time.perf_counter() - begin) * 1000)
            self.assertEqual(code, 0)
        print(f"tenon {' '.join(words)}: {min(times):.1f} ms (slowest {max(times):.1f} ms)")
        return min(times)

    def test_help(self):
        self.assertLess(self.best("help"), 50 * SLACK)
        self.assertLess(self.best("run", "--help"), 50 * SLACK)

    def test_check(self):
        self.assertLess(self.best("check", "digits.json"), 150 * SLACK)
        self.assertLess(self.best("explain", "digits.json"), 150 * SLACK)
        self.assertLess(self.best("plugins", "list"), 150 * SLACK)


if __name__ == "__main__":
    unittest.main()
