"""Commands that need no tensors open no libtorch, and plugins are read but never mapped to be run."""

import re
import shutil
import subprocess
import sys
import unittest

from checkpoint import make_run
from program import BUILD, PROGRAM, ProgramTest

PLUGINS = str(BUILD / "lib" / "tenon" / "plugins")
COMMANDS = [
    ["help"],
    ["--version"],
    ["run", "--help"],
    ["check", "digits.json"],
    ["check", "digits.json", "--set", "vars.rl=1"],
    ["explain", "digits.json"],
    ["plugins", "list"],
    ["plugins", "show", "model:cnn"],
    ["schema"],
    ["init"],
    ["completion", "bash"],
    ["help", "--man"],
    ["fix", "digits.json", "--dry-run"],
    ["graph", "digits.json"],
    ["diff", "digits.json", "digits.json"],
    ["run", "digits.json", "--set", "vars.rl=1"],
    ["inspect", "runs/digits/0001"],
    ["inspect", "runs/digits/0001/checkpoints/step-000040", "--tensors"],
]


class OpensNothingTest(ProgramTest):
    def trace(self, words):
        log = self.folder / "trace"
        subprocess.run(
            ["strace", "-f", "-y", "-e", "trace=open,openat,mmap,mprotect,execve", "-o", log, PROGRAM, *words],
            cwd=self.folder, env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        return log.read_text(errors="replace").splitlines()

    def test_no_libtorch_and_no_code_of_plugins(self):
        make_run(self.folder)
        for words in COMMANDS:
            with self.subTest(words=words):
                calls = self.trace(words)
                opened = [call for call in calls if re.search(r" open(at)?\(", call) and " = -1 " not in call]
                self.assertTrue(any("libtenon_core" in call for call in opened), "strace saw no library")
                heavy = r"lib(torch|c10|tenon_engine|tenon_nn)"
                if words[0] != "check":  # it reads their tables of symbols
                    self.assertEqual([call for call in opened if re.search(heavy, call)], [])
                mapped = [call for call in calls if "mmap(" in call or "mprotect(" in call]
                self.assertTrue(any("PROT_EXEC" in call for call in mapped))
                self.assertEqual([call for call in mapped if f"<{PLUGINS}" in call or re.search(heavy, call)], [])
                self.assertEqual(sum("execve(" in call for call in calls), 1)

    def test_the_watch_sees_what_it_watches_for(self):
        self.assertTrue(any(f'"{PLUGINS}' in call for call in self.trace(["check", "digits.json"])))
        self.assertTrue(any("libtorch_cpu" in call for call in self.trace(["doctor"])))


if __name__ == "__main__":
    if shutil.which("strace") is None:
        print("skipped: strace is not installed (apt-get install strace)")
        sys.exit(77)
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        print("skipped: strace may not trace here")
        sys.exit(77)
    unittest.main()
