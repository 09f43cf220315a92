"""Measures the loader against its peers, by rows; see --help.

Contenders take turns in rounds, each in a process of its own that lives through all of them. Ratios are those of
processor time, round by round: the median, and the lowest and the highest. Above 1 ours is better.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import sys

import contender
import contest
import environment
import gates
import machine
from rows import images, memory, scaling, small_images, starting

ROWS = {"C6": images.c6, "C7": images.c7, "C8": small_images.c8, "C9": scaling.c9, "C10": starting.c10,
        "C11": memory.c11, "C12": memory.c12, "C13": starting.c13}
KEPT = ("row", "peer", "ratio", "low", "high", "must", "stretch", "limit")


def arguments():
    parser = argparse.ArgumentParser(prog="dev bench loader", description="Measures the loader against its peers.")
    parser.add_argument("--row", action="append", choices=list(ROWS), help="this row alone; may be repeated")
    parser.add_argument("--quick", action="store_true", help="two rounds, and nothing over a large index")
    parser.add_argument("--rounds", type=int, help="rounds of each comparison (5)")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--libtorch", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rounds = options.rounds or (2 if options.quick else 5)
    return options


def number(value, places=2):
    return "-" if value is None else f"{value:.{places}f}"


def verdict(comparison):
    if comparison.ratio is None:
        return "missing"
    if comparison.must is None:
        return ""
    if comparison.ratio < comparison.must:
        return "BELOW"
    return "stretch" if comparison.stretch is not None and comparison.ratio >= comparison.stretch else "holds"


def show(comparison, rounds):
    spread = f"({number(comparison.low)} to {number(comparison.high)})" if comparison.ratio is not None else ""
    bounds = f"must {number(comparison.must)}, stretch {number(comparison.stretch)}, limit {number(comparison.limit)}"
    print(f"{comparison.row:4} {number(comparison.ratio):>7} {spread:18} {verdict(comparison):8} {comparison.peer}")
    told = [f"ours {comparison.ours}" if comparison.ours else "",
            f"theirs {comparison.theirs}" if comparison.theirs else "",
            f"wall {number(comparison.wall)}" if comparison.wall is not None else "", bounds,
            f"contended in {comparison.contended} of {rounds} rounds" if comparison.contended else "", comparison.note]
    print("     " + "; ".join(text for text in told if text), flush=True)


def kept(comparison):
    """What the file says of it: one line of JSON."""
    return json.dumps({key: value for key, value in dataclasses.asdict(comparison).items() if key in KEPT})


def measure(rows, bench, options, out):
    """Shows and keeps the comparisons of rows {name: function}. A row that cannot be had is named with its reason."""
    for name, row in rows.items():
        print(f"{name}: {options.rounds} rounds", flush=True)
        try:
            comparisons = row(bench, options)
        except (contender.Missing, gates.Unequal) as reason:
            comparisons = [contest.Comparison(name, "all", None, note=str(reason))]
        for comparison in comparisons:
            show(comparison, options.rounds)
            out.write(kept(comparison) + "\n")
        out.flush()


def require_fit_build(folder):
    """How our side was built; ends the program where that makes its figures worthless."""
    try:
        ours = contender.ours(folder, "build", {"kind": "build"})
    except contender.Missing as reason:
        sys.exit(f"bench: {folder}: {reason}")
    ours.close()
    reason = machine.unfit(ours.about)
    if reason:
        sys.exit(f"bench: {folder} {reason}\n"
                 "  Measure a build of CMAKE_BUILD_TYPE Release, as ./dev bench loader makes it.")
    return ours.about


def main():
    options = arguments()
    print(f"Machine: {machine.described(require_fit_build(options.build))}", flush=True)
    peers = pathlib.Path(__file__).parent / "peers"
    made = environment.Environment(options.cache, options.libtorch)
    for group, reason in made.missing.items():
        print(f"not installed: {group}: {reason}")
    bench = contender.Bench(options.build, made, peers, dict(os.environ))
    file = options.build.parent / "bench" / "loader.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        measure({name: ROWS[name] for name in options.row or ROWS}, bench, options, out)
    print(f"Written to {file}")


if __name__ == "__main__":
    main()
