"""A program that is measured: it runs all the time, and does one thing when it is asked."""

import contextlib
import json
import subprocess
import tempfile

PATIENCE = 20  # seconds that one which was told to end may take


class Missing(Exception):
    """A contender that is not there; the text says why."""


class Contender:
    """Speaks by lines of JSON: the first says whether it is ready, each further one answers a command."""

    def __init__(self, name, command, scenario, variables=None):
        self.name = name
        # Libraries say there what they like: a pipe that nobody reads would stop them once it is full.
        self._said = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [*map(str, command), json.dumps(scenario)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._said, encoding="utf-8", env=variables)
        except OSError as reason:
            self._said.close()
            raise Missing(f"it does not start: {reason}") from reason
        ready = self._answer()
        if "missing" in ready:
            self.close()
            raise Missing(ready["missing"])
        self.about = ready

    def ask(self, **command):
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
        except OSError:  # nobody reads it
            raise Missing(self._end()) from None
        answer = self._answer()
        if "missing" in answer:
            raise Missing(answer["missing"])
        return answer

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            return {"missing": self._end()}
        try:
            return json.loads(line)
        except ValueError:
            return {"missing": f"it answered {line.strip()!r}, which is no JSON"}

    def _end(self):
        """Waits for its end; the text says how it ended."""
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip().splitlines()
        return f"it ended with {self._process.returncode}: {said[-1] if said else 'and said nothing'}"

    def close(self):
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what it did not read any more
                stream.close()
        self._end()
        self._said.close()


def ours(folder, name, scenario, variables=None):
    """Our program in the folder of a build."""
    return Contender(name, [folder / "tests/bench/bench_loader"], scenario, variables)


class Bench:
    """Where contenders come from."""

    def __init__(self, build, environment, peers_folder, base_variables):
        self._build = build
        self.environment = environment
        self._peers = peers_folder
        self._variables = base_variables

    def ours(self, name, scenario):
        return ours(self._build, name, scenario, self._variables)

    def peer(self, name, script, scenario):
        return Contender(name, [self.environment.python, self._peers / f"{script}.py"], scenario,
                         self._variables | self.environment.variables())
