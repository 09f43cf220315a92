"""C9: throughput and cost by the number of workers, and whether "auto" finds the best."""

import functools
import os
import statistics

import contest
import scenarios

CORES = len(os.sched_getaffinity(0))
WORKERS = sorted({1, CORES, 2 * CORES, 4 * CORES})
# Samples of a known cost, in seconds on a core ("computing", and "taking" by whoever takes a batch) and off it
# ("waiting"), and the fixed numbers of threads that "auto" is held against: none among them where threads may not pay,
# more than four a core where they wait.
KNOWN = [
    ("1 ms of computing a sample", WORKERS, {"computing": 1e-3}),
    ("0.2 ms of computing and 1.5 ms of waiting a sample", [*WORKERS, 8 * CORES, 16 * CORES],
     {"computing": 2e-4, "waiting": 1.5e-3}),
    ("2 µs of computing a sample", [0, *WORKERS], {"computing": 2e-6, "items": 65536}),
    ("0.5 ms of computing a sample, 10 ms a batch by who takes it", [0, *WORKERS],
     {"computing": 5e-4, "taking": 1e-2}),
]


def medians(answers, of):
    return {name: statistics.median(answer["samples"] / answer[of] for answer in found)
            for name, found in answers.items()}


def by_rounds(answers, of, better, worse):
    """Of the slowest of some by the fastest of others, both by their medians: the ratios round by round."""
    rates = medians(answers, of)

    def each(name):
        return [answer["samples"] / answer[of] for answer in answers[name]]

    return contest.ratio_of(each(min(worse, key=rates.get)), each(max(better, key=rates.get)))


def numbers(workers):
    return ", ".join(map(str, workers))


def synthetic(bench, options, what, workers, costs):
    """How "auto" does where samples take a known time."""
    def make(number):
        return functools.partial(bench.ours, what, {"kind": "loader", "batch": 64, "workers": number} | costs)

    fixed = [str(number) for number in workers]
    with contest.started({str(number): make(number) for number in (*workers, "auto")}) as (there, missing):
        answers, failed = contest.rounds(there, options.rounds, warm_up=5, do="epoch")
    contest.require([*fixed, "auto"], missing, failed)
    rates = medians(answers, "wall")
    return contest.Comparison(
        "C9", f"auto by the best fixed number, wall, {what}", *by_rounds(answers, "wall", fixed, ["auto"]), must=0.97,
        limit=1.0, ours=f"{rates['auto']:,.0f} samples/s with {answers['auto'][-1]['threads']} threads",
        theirs=", ".join(f"{name}: {rates[name]:,.0f}" for name in fixed),
        contended=contest.contended(*answers.values()))


def flatness(answers, workers, cores):
    """Whether more workers cost anything: lines of names and ratios, by wall time and by processor time.

    Those from the number of cores on, at their worst: by wall time against the best of all; by processor time against
    the cheapest with no more workers than cores. So one worker alone may be the cheapest, but not the dearest: where
    other cores idle, an image can cost more than where all are busy, which is the machine's doing, and no price of
    having more workers.
    """
    def ours(some):
        return [f"ours {number}" for number in some]

    many, few = [number for number in workers if number >= cores], [number for number in workers if number <= cores]
    return [(f"slowest of {numbers(many)} workers by the best of {numbers(workers)}, wall",
             by_rounds(answers, "wall", ours(workers), ours(many))),
            (f"dearest of {numbers(many)} workers by the cheapest of {numbers(few)}, cpu",
             by_rounds(answers, "cpu", ours(few), ours(many)))]


def files(bench, options):
    folder = bench.environment.images / "train"
    makers = {f"ours {workers}": functools.partial(bench.ours, workers, scenarios.images(folder, "u8", workers))
              for workers in (*WORKERS, "auto")}
    for workers in WORKERS:
        makers[f"v2 {workers}"] = functools.partial(bench.peer, workers, "images",
                                                    scenarios.peer_images("v2", "u8", workers, folder))
    with contest.started(makers) as (there, missing):
        # Three rounds before: "auto" measures as it goes.
        answers, failed = contest.rounds(there, options.rounds, warm_up=3, do="epoch")
    fixed = [f"ours {workers}" for workers in WORKERS]
    contest.require([*fixed, "ours auto"], missing, failed)
    wall, cpu = medians(answers, "wall"), medians(answers, "cpu")
    more = {"limit": 1.0, "contended": contest.contended(*(answers[name] for name in fixed)),
            "note": "; ".join(f"{name}: {reason}" for name, reason in (missing | failed).items())}

    def told(prefix, rates, unit):
        found = [f"{workers}: {rates[f'{prefix} {workers}']:,.0f}" for workers in WORKERS
                 if f"{prefix} {workers}" in rates]
        return f"{', '.join(found)} {unit}" if found else ""

    def theirs(rates, unit):
        return ("DataLoader v2 " + told("v2", rates, unit)) if told("v2", rates, unit) else ""

    (by_wall, slowest), (by_cpu, dearest) = flatness(answers, WORKERS, CORES)
    return [
        contest.Comparison("C9", by_wall, *slowest, must=0.97, stretch=1.0, ours=told("ours", wall, "img/s"),
                           theirs=theirs(wall, "img/s"), **more),
        contest.Comparison("C9", by_cpu, *dearest, must=0.95, stretch=1.0, ours=told("ours", cpu, "img/core-s"),
                           theirs=theirs(cpu, "img/core-s"), **more),
        contest.Comparison("C9", "auto by the best fixed number, wall, files",
                           *by_rounds(answers, "wall", fixed, ["ours auto"]), must=0.90, stretch=0.97,
                           ours=f"{wall['ours auto']:,.0f} img/s with {answers['ours auto'][-1]['threads']} threads",
                           **more)]


def c9(bench, options):
    return files(bench, options) + [synthetic(bench, options, *known) for known in KNOWN]
