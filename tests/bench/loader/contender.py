"""A program that is measured: it runs all the time, and does one thing when it is asked."""

import json
import subprocess


class Missing(Exception):
    """A contender that is not there; the text says why."""


class Contender:
    """Speaks by lines of JSON: the first says whether it is ready, each further one answers a command."""

    def __init__(self, name, command, scenario, variables=None):
        self.name = name
        self._process = subprocess.Popen(
            [*map(str, command), json.dumps(scenario)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=variables)
        ready = self._answer()
        if "missing" in ready:
            self.close()
            raise Missing(ready["missing"])
        self.about = ready

    def ask(self, **command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "missing" in answer:
            raise Missing(answer["missing"])
        return answer

    def _answer(self):
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        self._process.wait()
        said = self._process.stderr.read().strip().splitlines()
        return {"missing": f"it ended with {self._process.returncode}: {said[-1] if said else 'and said nothing'}"}

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stderr.close()


class Bench:
    """Where contenders come from."""

    def __init__(self, build, environment, peers_folder, base_variables):
        self.build = build
        self.environment = environment
        self._peers = peers_folder
        self._variables = base_variables

    def ours(self, name, scenario):
        return Contender(name, [self.build / "tests/bench/bench_loader"], scenario, self._variables)

    def peer(self, name, script, scenario):
        return Contender(name, [self.environment.python, self._peers / f"{script}.py"], scenario,
                         self._variables | self.environment.variables())
