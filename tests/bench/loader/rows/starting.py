"""C10: the first batch, the turn of an epoch, an index of 1.28 million files; C13: going on within an epoch."""

import functools
import statistics

import contest
import gates
import scenarios
from contender import Missing

TRIES = 9


def within(row, what, allowed, measured, unit, stretch=None, **more):
    """A bound: how many times the measured value fits into what is allowed."""
    values = measured if isinstance(measured, list) else [measured]
    ratios = [allowed / max(value, 1e-9) for value in values]
    return contest.Comparison(row, f"bound of {allowed:g} {unit}: {what}", statistics.median(ratios), min(ratios),
                              max(ratios), must=1.0, stretch=None if stretch is None else allowed / stretch,
                              ours=f"{statistics.median(values):.3g} {unit}", **more)


def firsts(contender, batch=0, tries=TRIES):
    """Seconds to the first batch of fresh loaders."""
    return [contender.ask(do="from", batch=batch)["first"] for _ in range(tries)]


def first_batch(bench, options):
    folder = bench.environment.images / "train"
    makers = {"ours": functools.partial(bench.ours, "ours", scenarios.images(folder, "u8", 2)),
              "v2": functools.partial(bench.peer, "v2", "images", scenarios.peer_images("v2", "u8", 2, folder))}
    with contest.started(makers) as (there, missing):
        contest.require(["ours"], missing)
        answers, failed = contest.rounds({"ours": there["ours"]}, options.rounds, do="epoch")
        contest.require(["ours"], failed)
        making = [64 * answer["wall"] / answer["samples"] for answer in answers["ours"]]
        ours = firsts(there["ours"], tries=options.rounds)
        turns = there["ours"].ask(do="turns", epochs=4, pause=60)
        theirs = [there["v2"].ask(do="fresh")["first"] for _ in range(options.rounds)] if "v2" in there else []
        their_turns = there["v2"].ask(do="turns", epochs=3, pause=80)["turns"] if "v2" in there else []
    ratio, low, high = contest.ratio_of(making, ours)
    found = [contest.Comparison("C10", "time to make one batch by time to the first one, T=2", ratio, low, high,
                                must=round(1 / 1.3, 3), limit=1.0, ours=f"{1e3 * statistics.median(ours):.1f} ms",
                                theirs=f"{1e3 * statistics.median(making):.1f} ms")]
    if theirs:
        ratio, low, high = contest.ratio_of(theirs, ours)
        found.append(contest.Comparison("C10", "DataLoader v2 u8, first batch, T=2", ratio, low, high,
                                        ours=f"{1e3 * statistics.median(ours):.1f} ms",
                                        theirs=f"{1e3 * statistics.median(theirs):.1f} ms"))
    noted = "; ".join((missing | failed).values())
    found.append(within("C10", "idle at the turn of an epoch", 2.0, turns["turns"], "ms", note=noted,
                        theirs=f"DataLoader, persistent: {their_turns[0]:.1f} ms" if their_turns else ""))
    return found


def large_index(bench):
    """Four workers over 1.28 million files; theirs give the length of a path alone, ours decode."""
    folder = bench.environment.many_files()
    makers = {"ours": functools.partial(bench.ours, "ours", scenarios.images(folder, "u8", 4, limit=16))}
    with contest.started(makers) as (there, missing):
        contest.require(["ours"], missing)
        about = there["ours"].about
        ours = firsts(there["ours"], tries=5)
    found = [within("C10", f"opening {about['items']:,} files", 2.0, about["open_seconds"], "s")]
    for context in ("fork", "forkserver", "spawn"):
        name = f"DataLoader over a list of {about['items']:,} paths, {context}, 4 workers: first batch"
        scenario = {"entries": about["items"], "workers": 4, "context": context}
        try:
            peer = bench.peer(name, "lists", scenario)
            theirs = [peer.ask(do="first")["first"] for _ in range(2)]
            peer.close()
        except Missing as reason:
            found.append(contest.Comparison("C10", name, None, note=str(reason)))
            continue
        ratio, low, high = contest.ratio_of(theirs, ours)
        found.append(contest.Comparison("C10", name, ratio, low, high, ours=f"{1e3 * statistics.median(ours):.0f} ms",
                                        theirs=f"{1e3 * statistics.median(theirs):.0f} ms"))
    return found


def c10(bench, options):
    return first_batch(bench, options) + ([] if options.quick else large_index(bench))


def c13(bench, options):
    folder, batches = bench.environment.images / "train", 1024 // 16
    makers = {"ours": functools.partial(bench.ours, "ours", scenarios.images(folder, "u8", 2, batch=16)),
              "other": functools.partial(bench.ours, "other", scenarios.images(folder, "u8", 1, batch=16)),
              "peer": functools.partial(bench.peer, "peer", "resume",
                                        {"folder": str(folder), "workers": 2, "batch": 16})}
    found, ours = [], {}
    with contest.started(makers) as (there, missing):
        contest.require(["ours", "other"], missing)
        straight = there["ours"].ask(do="from", batch=0)["hashes"]
        for percent in (0, 10, 50, 90):
            at = batches * percent // 100
            if there["other"].ask(do="from", batch=at)["hashes"] != straight[at:]:
                raise gates.Unequal(f"going on at {percent} % with another number of threads gives other bytes")
            ours[percent] = firsts(there["ours"], at, 2 * options.rounds)
        ratio, low, high = contest.ratio_of(ours[0], ours[90])
        found.append(contest.Comparison("C13", "first batch at the beginning by first batch at 90 %", ratio, low, high,
                                        must=round(1 / 1.3, 3), limit=1.0,
                                        ours=f"{1e3 * statistics.median(ours[90]):.1f} ms",
                                        theirs=f"{1e3 * statistics.median(ours[0]):.1f} ms",
                                        note="bytes equal, also with another number of threads"))
        for percent in (10, 50, 90):
            name = f"StatefulDataLoader, resumed at {percent} %"
            if "peer" in missing:
                found.append(contest.Comparison("C13", name, None, note=missing["peer"]))
                continue
            answers = [there["peer"].ask(do="resume", batch=batches * percent // 100) for _ in range(options.rounds)]
            ratio, low, high = contest.ratio_of([answer["first"] for answer in answers], ours[percent])
            same = all(answer["equal"] for answer in answers)
            found.append(contest.Comparison("C13", name, ratio, low, high,
                                            ours=f"{1e3 * statistics.median(ours[percent]):.1f} ms, equal bytes",
                                            theirs=f"{1e3 * statistics.median(a['first'] for a in answers):.0f} ms, "
                                                   f"{'equal' if same else 'other'} pixels"))
    return found
