"""C9: throughput and cost by the number of workers, and whether "auto" finds the best."""

import functools
import statistics

import contest
import scenarios

WORKERS = (1, 2, 4, 8)
CORES = 2  # from this many on, more workers must not cost anything


def medians(answers, of):
    return {name: statistics.median(answer["samples"] / answer[of] for answer in found)
            for name, found in answers.items()}


def by_rounds(answers, of, better, worse):
    """Of the slowest of some by the fastest of others, both by their medians: the ratios round by round."""
    rates = medians(answers, of)

    def each(name):
        return [answer["samples"] / answer[of] for answer in answers[name]]

    return contest.ratio_of(each(min(worse, key=rates.get)), each(max(better, key=rates.get)))


def synthetic(bench, options, what, computing, waiting):
    """How "auto" does where a sample takes a known time, on a core and off it."""
    def make(workers):
        return functools.partial(bench.ours, what, {"kind": "loader", "batch": 64, "workers": workers,
                                                    "computing": computing, "waiting": waiting})

    fixed = [str(workers) for workers in WORKERS]
    with contest.started({str(workers): make(workers) for workers in (*WORKERS, "auto")}) as (there, missing):
        answers, failed = contest.rounds(there, options.rounds, warm_up=5, do="epoch")
    contest.require([*fixed, "auto"], missing, failed)
    rates = medians(answers, "wall")
    ratio, low, high = by_rounds(answers, "wall", fixed, ["auto"])
    return contest.Comparison(
        "C9", f"auto by the best fixed number, wall, {what}", ratio, low, high, must=0.97, limit=1.0,
        ours=f"{rates['auto']:,.0f} samples/s with {answers['auto'][-1]['threads']} threads",
        theirs=", ".join(f"{name}: {rates[name]:,.0f}" for name in fixed),
        contended=contest.contended(*answers.values()))


def c9(bench, options):
    return files(bench, options) + [
        synthetic(bench, options, "1 ms of computing a sample", 1e-3, 0.0),
        synthetic(bench, options, "0.2 ms of computing and 1.5 ms of waiting a sample", 2e-4, 1.5e-3)]


def files(bench, options):
    folder = bench.environment.images / "train"
    ours = {workers: scenarios.images(folder, "u8", workers) for workers in WORKERS}
    makers = {f"ours {workers}": functools.partial(bench.ours, workers, ours[workers]) for workers in WORKERS}
    makers["ours auto"] = functools.partial(bench.ours, "auto", scenarios.images(folder, "u8", "auto"))
    for workers in WORKERS:
        makers[f"v2 {workers}"] = functools.partial(bench.peer, workers, "images",
                                                    scenarios.peer_images("v2", "u8", workers, folder))
    with contest.started(makers) as (there, missing):
        # Three rounds before: "auto" measures as it goes.
        answers, failed = contest.rounds(there, options.rounds, warm_up=3, do="epoch")
    fixed = [f"ours {workers}" for workers in WORKERS]
    contest.require([*fixed, "ours auto"], missing, failed)
    wall, cpu = medians(answers, "wall"), medians(answers, "cpu")
    many = [f"ours {workers}" for workers in WORKERS if workers >= CORES]
    noted = "; ".join(f"{name}: {reason}" for name, reason in (missing | failed).items())

    def told(prefix, rates):
        return ", ".join(f"{workers}: {rates[f'{prefix} {workers}']:,.0f}" for workers in WORKERS
                         if f"{prefix} {workers}" in rates)

    def line(what, ratio, must, stretch=None, theirs="", mine=None, count=0):
        return contest.Comparison("C9", what, *ratio, must=must, stretch=stretch, limit=1.0, theirs=theirs, note=noted,
                                  ours=mine or told("ours", wall) + " img/s", contended=count)

    disturbed = contest.contended(*(answers[name] for name in fixed))
    return [
        line("slowest of 2, 4, 8 workers by the best, wall", by_rounds(answers, "wall", fixed, many), 0.97, 1.0,
             "DataLoader v2 " + told("v2", wall) + " img/s", count=disturbed),
        line("dearest of 1, 2, 4, 8 workers by the cheapest, cpu", by_rounds(answers, "cpu", fixed, fixed), 0.95, 1.0,
             "DataLoader v2 " + told("v2", cpu), told("ours", cpu) + " img/core-s", disturbed),
        line("auto by the best fixed number, wall, files", by_rounds(answers, "wall", fixed, ["ours auto"]), 0.90, 0.97,
             "", f"{wall['ours auto']:,.0f} img/s with {answers['ours auto'][-1]['threads']} threads", disturbed),
    ]
