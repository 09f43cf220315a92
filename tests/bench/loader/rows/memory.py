"""C11: memory over 20 epochs with an index of 1.28 million files; C12: what handing a batch over costs."""

import functools
import statistics

import contest
import environment
import scenarios
from rows.starting import within

EPOCHS = 20


def slope(values):
    """Least squares, from the third on: what a loader takes once does not count."""
    points = list(enumerate(values))[2:]
    middle_x, middle_y = (statistics.mean(column) for column in zip(*points))
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / sum((x - middle_x) ** 2 for x, _ in points)


def c11(bench, options):
    epochs = 6 if options.quick else EPOCHS
    folder = bench.environment.many_files()
    ours_there = {"ours": functools.partial(bench.ours, "ours", scenarios.images(folder, "u8", 4, limit=32))}
    with contest.started(ours_there) as (there, missing):
        contest.require(["ours"], missing)
        about = there["ours"].about
        ours = there["ours"].ask(do="memory", epochs=epochs)["megabytes"]
    lists = {"lists": functools.partial(bench.peer, "lists", "lists",
                                        {"entries": about["items"], "workers": 4, "context": "fork"})}
    with contest.started(lists) as (there, missing):
        theirs = contest.asked(there, missing, "lists", do="memory", epochs=epochs, samples=65536)
    noted = "; ".join(f"DataLoader over a list: {reason}" for reason in missing.values())
    told = "".join(f"DataLoader over a list: {slope(answer['megabytes']):+.1f} MB an epoch, "
                   f"{answer['megabytes'][-1]:,.0f} MB" for answer in theirs)
    growth = slope(ours)
    entry = about["index_megabytes"] * 2**20 / about["items"]
    allowed = 40 + environment.many_name_bytes()
    return [within("C11", f"growth of memory an epoch, {epochs} epochs", 1.0, abs(growth), "MB", theirs=told,
                   note=f"{growth:+.3f} MB an epoch at {ours[-1]:,.0f} MB; {noted}".rstrip("; ")),
            within("C11", "index for an entry, 40 and its name", allowed, entry, "B")]


def c12(bench, options):
    found = []
    for dtype in ("f32", "u8"):
        items = 2000 if options.quick else 20000
        makers = {
            "ours": functools.partial(bench.ours, "ours",
                                      {"kind": "loader", "dtype": dtype, "items": items, "workers": 1}),
            "peer": functools.partial(bench.peer, "peer", "hand_off", {"dtype": dtype, "items": items // 100})}
        with contest.started(makers) as (there, missing):
            answers, failed = contest.rounds(there, options.rounds, do="epoch")
        contest.require(["ours"], missing, failed)
        each = [1e6 * answer["wall"] / answer["samples"] for answer in answers["ours"]]
        found.append(within("C12", f"a batch of 64 x 3 x 224 x 224 {dtype} from a thread", 20.0, each, "µs",
                            stretch=5.0))
        name = f"DataLoader, 1 worker, {dtype}"
        if "peer" in missing | failed:
            found.append(contest.Comparison("C12", name, None, note=(missing | failed)["peer"]))
            continue
        line = contest.compare("C12", name, answers["ours"], answers["peer"], of="wall", unit="batches/s")
        found.append(line)
    return found
