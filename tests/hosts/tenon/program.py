"""Runs the built `tenon` as a user would, in an environment of its own."""

import fcntl
import json
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest
from typing import NamedTuple

os.umask(0o022)  # a plugin that its group may write to is not trusted

BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["TENON_SOURCE_DIR"])
PROGRAM = BUILD / "bin" / "tenon"
PIPELINES = SOURCE / "sdk" / "examples" / "pipelines"
TIME_LIMIT = 120  # seconds: far more than anything here takes

COMMANDS = ["eval", "export", "init", "predict", "run",
            "check", "data check", "data show", "diff", "explain", "fix", "graph", "inspect", "probe", "verify repro", "verify resume",
            "plugins check", "plugins diff", "plugins doctor", "plugins list", "plugins new",
            "plugins show", "schema", "completion", "doctor", "help"]
PLUMBING = ["artefact-run"]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


class ProgramTest(unittest.TestCase):
    """Each test has an empty current directory, `self.folder`, with the demo's pipeline in it."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve() / "here"
        self.folder.mkdir()
        shutil.copy(PIPELINES / "digits.json", self.folder)

    def succeeds(self, *arguments):
        """What a call writes to standard output that ends with 0."""
        code, out, err = self.tenon(*arguments)
        self.assertEqual(code, 0, err)
        return out

    def environment(self, **more):
        keep = {name: os.environ[name] for name in ("PATH", "TENON_LIBTORCH", "LANG") if name in os.environ}
        home = self.folder.parent / "home"
        home.mkdir(exist_ok=True)
        return keep | {"HOME": str(home), "TERM": "xterm"} | more

    def tenon(self, *arguments, env=None, stdout=subprocess.PIPE):
        done = subprocess.run(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env=self.environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=TIME_LIMIT,
        )
        out = done.stdout.decode() if done.stdout is not None else ""
        return Outcome(done.returncode, out, done.stderr.decode(errors="replace"))

    def tenon_on_terminal(self, *arguments, env=None, columns=0):
        """Both streams are one terminal; what it shows comes back as `out`."""
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env=self.environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=side,
            stderr=side,
        )
        os.close(side)
        shown = b""
        try:
            while chunk := os.read(main, 65536):
                shown += chunk
        except OSError:  # the other side is closed
            pass
        os.close(main)
        return Outcome(process.wait(TIME_LIMIT), shown.decode(), "")

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def demo(self, change=None, name="changed.json"):
        """The demo as a value, changed by a function, under another name."""
        pipeline = json.loads((self.folder / "digits.json").read_text())
        if change is not None:
            change(pipeline)
        return self.write(name, json.dumps(pipeline, indent=2))

    def demo_text(self, old, new, name="changed.json"):
        """The demo's text with one piece replaced."""
        text = (self.folder / "digits.json").read_text()
        self.assertEqual(text.count(old), 1, f"the demo is expected to hold {old} once")
        return self.write(name, text.replace(old, new))
