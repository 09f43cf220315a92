"""C8: CIFAR's images in memory, cut, flipped and normalised; and a mere gather of them."""

import functools
import statistics

import contest
import gates
import scenarios
from contender import Missing

PEERS = [("torchvision PIL, f32", "pil", 40.0, 70.0, 0), ("v2 tensors, f32", "v2", 30.0, 50.0, 0),
         ("torchvision PIL, f32, 2 workers", "pil", 40.0, 70.0, 2), ("v2 tensors, f32, 2 workers", "v2", 30.0, 50.0, 2),
         ("TensorDataset, u8 gather", "gather", 8.0, 10.0, 0)]
COUNT = 10000


def scenario(bench, peer, workers, whole=False):
    return {"peer": peer, "workers": workers, "batch": 512, "whole": whole,
            "file": str(bench.environment.images / "cifar" / "test_batch.bin")}


def check_pixels(bench, folder):
    """{peer: why its pixels are not ours}"""
    unequal = {}
    for peer in dict.fromkeys(peer for _, peer, *_ in PEERS):
        ours = scenarios.small_images(folder, whole=True, plain=peer == "gather")
        try:
            gates.compared_pixels(bench, functools.partial(bench.ours, "ours", ours),
                                  functools.partial(bench.peer, peer, "small_images",
                                                    scenario(bench, peer, 0, whole=True)),
                                  mean=scenarios.SMALL_MEAN, std=scenarios.SMALL_STD)
        except (Missing, gates.Unequal) as reason:
            unequal[peer] = str(reason)
    return unequal


def c8(bench, options):
    folder = bench.environment.images / "cifar"
    unequal = check_pixels(bench, folder)
    makers = {"ours": functools.partial(bench.ours, "ours", scenarios.small_images(folder)),
              "ours gather": functools.partial(bench.ours, "gather", scenarios.small_images(folder, plain=True)),
              "copy": functools.partial(bench.ours, "copy", {"kind": "ceiling", "folder": str(folder)})}
    for name, peer, _, _, workers in PEERS:
        if peer not in unequal:
            makers[name] = functools.partial(bench.peer, name, "small_images", scenario(bench, peer, workers))
    found = []
    with contest.started(makers) as (there, missing):
        contest.require(["ours", "ours gather", "copy"], missing)
        copying = there["copy"].ask(do="copy")["bytes_a_second"]
        turning = {name: contender for name, contender in there.items() if name != "copy"}
        answers, failed = contest.rounds(turning, options.rounds, do="epoch")
    contest.require(["ours", "ours gather"], failed)
    for name in ("ours", "ours gather"):
        gates.require_each_once(answers[name], COUNT)
    for name, peer, must, stretch, _ in PEERS:
        reason = unequal.get(peer) or (missing | failed).get(name) or gates.uneven(answers[name], COUNT)
        if reason:
            found.append(contest.Comparison("C8", name, None, must=must, stretch=stretch, note=reason))
            continue
        ours = answers["ours gather" if peer == "gather" else "ours"]
        # What comes out must be written at least: 3 x 32 x 32 values.
        limit = copying / (3072 if peer == "gather" else 4 * 3072)
        theirs = statistics.median(answer["samples"] / answer["cpu"] for answer in answers[name])
        found.append(contest.compare("C8", name, ours, answers[name], must=must, stretch=stretch, limit=limit / theirs))
    return found
