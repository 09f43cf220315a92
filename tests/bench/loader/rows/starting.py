"""C10: the first batch, the turn of an epoch, an index of 1.28 million files; C13: going on within an epoch."""

import functools
import statistics

import contest
import gates
import scenarios

TRIES = 9


def within(row, what, allowed, measured, unit, stretch=None, **more):
    """A bound: how many times the measured value fits into what is allowed."""
    values = measured if isinstance(measured, list) else [measured]
    ratios = [allowed / max(value, 1e-9) for value in values]
    return contest.Comparison(row, f"bound of {allowed:.3g} {unit}: {what}", statistics.median(ratios), min(ratios),
                              max(ratios), must=1.0, stretch=None if stretch is None else allowed / stretch,
                              ours=f"{statistics.median(values):.3g} {unit}", **more)


def firsts(contender, batch=0, tries=TRIES):
    """Seconds to the first batch of fresh loaders, from the beginning of their making."""
    return [contender.ask(do="from", batch=batch)["first"] for _ in range(tries)]


def milliseconds(values, places=1):
    return f"{1e3 * statistics.median(values):.{places}f} ms"


def by_peer(row, name, ours, theirs, reason, of_ours="", of_theirs="", places=1):
    """How many times as long as ours theirs takes, in seconds; without theirs, why there is none."""
    if not theirs:
        return contest.Comparison(row, name, None, note=reason)
    return contest.Comparison(row, name, *contest.ratio_of(theirs, ours), ours=milliseconds(ours, places) + of_ours,
                              theirs=milliseconds(theirs, places) + of_theirs)


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
        turns = there["ours"].ask(do="turns", epochs=4, pause=60)["turns"]
        theirs = [answer["first"] for answer in contest.asked(there, missing, "v2", options.rounds, do="fresh")]
        their_turns = contest.asked(there, missing, "v2", do="turns", epochs=3, pause=80)
    return [
        contest.Comparison("C10", "time to make one batch by time to the first one, T=2",
                           *contest.ratio_of(making, ours), must=round(1 / 1.3, 3), limit=1.0, ours=milliseconds(ours),
                           theirs=milliseconds(making)),
        by_peer("C10", "DataLoader v2 u8, first batch, T=2", ours, theirs, missing.get("v2")),
        within("C10", "idle at the turn of an epoch", 2.0, turns, "ms", note="; ".join(missing.values()),
               theirs="".join(f"DataLoader, persistent: {answer['turns'][0]:.1f} ms" for answer in their_turns))]


def large_index(bench):
    """Four workers over 1.28 million files; theirs give the length of a path alone, ours decode."""
    folder = bench.environment.many_files()
    makers = {"ours": functools.partial(bench.ours, "ours", scenarios.images(folder, "u8", 4, limit=16))}
    with contest.started(makers) as (there, missing):
        contest.require(["ours"], missing)
        about = there["ours"].about
        ours = firsts(there["ours"], tries=5)
        turns = there["ours"].ask(do="turns", epochs=4, pause=60)["turns"]
    found = [within("C10", f"opening {about['items']:,} files", 2.0, about["open_seconds"], "s"),
             within("C10", f"idle at the turn of an epoch over {about['items']:,} files", 2.0, turns, "ms")]
    for context in ("fork", "forkserver", "spawn"):
        name = f"DataLoader over a list of {about['items']:,} paths, {context}, 4 workers: first batch"
        make = functools.partial(bench.peer, name, "lists",
                                 {"entries": about["items"], "workers": 4, "context": context})
        with contest.started({name: make}) as (there, missing):
            theirs = [answer["first"] for answer in contest.asked(there, missing, name, 2, do="first")]
        found.append(by_peer("C10", name, ours, theirs, missing.get(name), places=0))
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
        found.append(contest.Comparison("C13", "first batch at the beginning by first batch at 90 %",
                                        *contest.ratio_of(ours[0], ours[90]), must=round(1 / 1.3, 3), limit=1.0,
                                        ours=milliseconds(ours[90]), theirs=milliseconds(ours[0]),
                                        note="bytes equal, also with another number of threads"))
        for percent in (10, 50, 90):
            answers = contest.asked(there, missing, "peer", options.rounds, do="resume",
                                    batch=batches * percent // 100)
            same = all(answer["equal"] for answer in answers)
            found.append(by_peer("C13", f"StatefulDataLoader, resumed at {percent} %", ours[percent],
                                 [answer["first"] for answer in answers], missing.get("peer"), ", equal bytes",
                                 f", {'equal' if same else 'other'} pixels"))
    return found
