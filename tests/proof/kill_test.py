"""Whatever the moment at which a run is ended, the run that goes on from there ends with the same bytes."""

import collections
import concurrent.futures
import json
import pathlib
import random
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import runs

MOMENTS = 50  # of each signal
SEED = 20260
MOST_OF_A_CHAIN = 6  # then it may run to its end
STARTING_UP = 0.2  # share of moments before training goes on


class Straight:
    """The run that nobody ends: what it leaves, and how long its parts take."""

    def __init__(self, folder):
        self.file = runs.pipeline(folder, model="cnn", validate="5 steps", checkpoint="4 steps", epochs=8)
        process = subprocess.Popen(runs.command(self.file, folder / "straight", "--outcome", folder / "straight.json"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        while process.poll() is None and not runs.listens(process, signal.SIGTERM):
            time.sleep(0.001)
        self.deaf = time.monotonic() - begin
        log = folder / "straight" / "digits" / "0001" / "log.jsonl"
        while process.poll() is None and not (log.exists() and log.stat().st_size > 0):
            time.sleep(0.002)
        self.start_up = time.monotonic() - begin
        if process.wait(runs.TIME_LIMIT) != 0:
            raise AssertionError(f"the straight run ended with {process.returncode}")
        self.training = time.monotonic() - begin - self.start_up
        self.outcome = json.loads((folder / "straight.json").read_text())


class Figures:
    def __init__(self):
        self.moments = collections.Counter()
        self.phases = collections.Counter()
        self.chains = collections.Counter()
        self.bytes = 0
        self.lost_steps = 0
        self.too_early = 0


class Chain:
    """Attempts at one run, each with --resume auto, all but the last ended by a signal at a random moment."""

    def __init__(self, straight, folder, sent, random_source):
        self.straight = straight
        self.runs = folder
        self.sent = sent
        self.random = random_source
        self.moments = 0
        self.phases = []
        self.stops = set()
        self.made = 0  # steps that attempts reported
        self.used = 0  # their samples
        self.lost = 0
        self.too_early = 0  # signals to a process that did not listen yet

    def attempt(self, ended):
        """One process. Gives its exit code, and notes what it reported."""
        report = self.runs.with_suffix(".outcome.json")
        report.unlink(missing_ok=True)
        (begin, data), begin_time = runs.position(runs.newest_checkpoint(self.runs)), time.time()
        process = subprocess.Popen(
            runs.command(self.straight.file, self.runs, "--resume", "auto", "--outcome", report),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        deaf = False
        if ended and self.wait_for_moment(process, begin, begin_time):
            self.moments += 1
            self.phases.append(self.phase(begin_time))
            deaf = not runs.listens(process, signal.SIGTERM)
            process.send_signal(self.sent)
        _, err = process.communicate(timeout=runs.TIME_LIMIT)
        outcome = json.loads(report.read_text()) if report.exists() else {"directory": ""}
        if outcome["directory"]:  # else it ended before it had a place in the run
            assert outcome["first_step"] == begin, f"began at {outcome['first_step']} instead of {begin}"
            first = outcome.get("first_read")
            assert first is None or (first["epoch"], first["batch"]) >= data, f"read {first}, which lies before {data}"
            self.made += outcome["steps_executed"]
            self.used += outcome["samples_used"]
            if process.returncode == runs.PREEMPTED:
                self.stops.add(outcome["steps"])
        event, step, _ = self.last_line()
        if process.returncode == -signal.SIGKILL and event != "run_end":
            self.lost += max(step - runs.newest_checkpoint_step(self.runs), 0)
        return process.returncode, err, deaf

    def wait_for_moment(self, process, begin, begin_time):
        """Waits for a moment of the start-up, or of what is behind it. False when the process ends before."""
        left = 1 - begin / self.straight.outcome["steps"]
        delay = self.random.uniform(0, left * self.straight.training)
        if self.random.random() < STARTING_UP:
            delay = self.random.uniform(0, 1) * self.straight.start_up
        else:
            while process.poll() is None and self.phase(begin_time) == "start-up":
                time.sleep(0.002)
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            return True
        return False

    def last_line(self):
        return runs.last_event(runs.newest_run(self.runs))

    def phase(self, begin):
        """What the process, begun at that time, had last told."""
        event, _, told = self.last_line()
        return f"after {event}" if told >= begin else "start-up"

    def go(self, budget):
        """Ends attempts until the run is done, or the budget of moments is."""
        allowed = {signal.SIGTERM: (0, runs.PREEMPTED), signal.SIGKILL: (0, -signal.SIGKILL)}[self.sent]
        code = None
        while code != 0 and self.last_line()[0] != "run_end":
            ended = self.moments < min(budget, MOST_OF_A_CHAIN)
            code, err, deaf = self.attempt(ended)
            # Before the program's own first line the signal does what it does to any program.
            too_early = deaf and code == -signal.SIGTERM
            self.too_early += too_early
            if not (code in allowed if ended else code == 0) and not too_early:
                raise AssertionError(f"attempt ended with {code} in phase {self.phases[-1:]}: {err}")

    def check(self):
        """The end against the straight run's. Gives the bytes that were compared."""
        straight = self.straight.outcome
        directory = runs.newest_run(self.runs)
        assert runs.last_event(directory)[0] == "run_end", "the run ended with 0 before its end"
        last = sorted(directory.glob("checkpoints/step-*"))[-1]
        different, compared = runs.different_files(straight["checkpoint"], last)
        assert different == [], f"{different} differ"
        ours = runs.comparable_log(directory, self.stops)
        theirs = runs.comparable_log(straight["directory"], self.stops)
        for line, other in zip(ours, theirs):
            assert line == other, f"log: {line} instead of {other}"
        assert len(ours) == len(theirs), f"log: {len(ours)} lines instead of {len(theirs)}"
        steps = [line["step"] for line in ours if line["event"] == "step"]
        assert steps == sorted(set(steps)), f"a step is logged twice: {steps}"
        if self.sent == signal.SIGTERM:
            assert self.made == straight["steps"], f"{self.made} steps made for {straight['steps']}"
            assert self.used == straight["samples_used"], f"{self.used} samples for {straight['samples_used']}"
        assert runs.temporaries(self.runs) == []
        return compared


class KillTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve()

    def use_up(self, straight, sent, figures, lock):
        """Chains of runs until all moments of one signal are used."""
        source = random.Random(f"{SEED} {sent}")
        used = 0
        while used < MOMENTS:
            number = figures.chains[sent.name]
            chain = Chain(straight, self.folder / f"{sent.name}-{number}", sent, source)
            chain.go(MOMENTS - used)
            compared = chain.check()
            used += chain.moments
            with lock:
                figures.moments[sent.name] += chain.moments
                figures.phases.update(chain.phases)
                figures.chains[sent.name] += 1
                figures.bytes += compared
                figures.lost_steps += chain.lost
                figures.too_early += chain.too_early

    def test_fifty_moments_of_sigterm_and_fifty_of_sigkill(self):
        straight = Straight(self.folder)
        self.assertLess(straight.deaf, straight.start_up, "it listens too late")
        figures, lock = Figures(), threading.Lock()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            workers = [pool.submit(self.use_up, straight, sent, figures, lock)
                       for sent in (signal.SIGTERM, signal.SIGKILL)]
            for worker in workers:
                worker.result()
        print(f"figure: kills: moments {dict(figures.moments)}, chains {dict(figures.chains)}, "
              f"{figures.bytes} bytes compared, "
              f"{figures.lost_steps} steps lost to SIGKILL, told last {dict(figures.phases)}, "
              f"{figures.too_early} of SIGTERM before the program listened, {straight.deaf * 1e3:.0f} ms of "
              f"{straight.start_up * 1e3:.0f} ms of starting up", flush=True)
        self.assertEqual(dict(figures.moments), {"SIGTERM": MOMENTS, "SIGKILL": MOMENTS})
        # How the moments fall depends on the machine: this much of every kind there must be.
        self.assertGreater(figures.phases.total() - figures.phases["start-up"], MOMENTS // 2)
        self.assertGreaterEqual(len(figures.phases), 4)


if __name__ == "__main__":
    unittest.main()
