"""C6: JPEGs cut, resized and flipped, against each peer; C7: the same as a share of what decoding alone reaches."""

import functools
import math
import random
import statistics

import contest
import environment
import gates
import scenarios
from contender import Missing

THREADS = (1, 2)


def rows_needed(draws=4000):
    """The share of an image's rows down to the end of a random window: what of a JPEG must be read at least."""
    draw, needed = random.Random(0), []
    while len(needed) < draws:
        width, height = (500, 375) if len(needed) % 5 else (375, 500)
        area = width * height * draw.uniform(0.08, 1)
        ratio = math.exp(draw.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if w <= width and h <= height:
            needed.append((draw.randint(0, height - h) + h) / height)
    return statistics.mean(needed)


def ceiling(bench, threads, divisor):
    folder = str(bench.environment.images / "train")
    return functools.partial(bench.ours, "ceiling",
                             {"kind": "ceiling", "folder": folder, "threads": threads, "divisor": divisor})


def rates(answers, of="cpu"):
    return [answer["samples"] / answer[of] for answer in answers]


def check_pixels(bench):
    """{peer: why its pixels are not ours}, by one comparison for each kind of output."""
    folder, unequal = bench.environment.images / "landscape", {}
    for each in scenarios.IMAGE_PEERS:
        ours = functools.partial(bench.ours, "ours", scenarios.images(
            folder.with_suffix(".tar") if each.shards else folder, each.out, 1, whole=True, antialias=each.antialias,
            shards=each.shards))
        theirs = functools.partial(bench.peer, each.name, "images",
                                   scenarios.peer_images(each.peer, each.out, 1, folder, whole=True))
        try:
            found = gates.compared_pixels(bench, ours, theirs, mean=scenarios.MEAN, std=scenarios.STD)
            print(f"  pixels as {each.name}: {found['mean']:.3f} of 255 apart in the mean, "
                  f"at most {found['most']:.0f}", flush=True)
        except (Missing, gates.Unequal) as reason:
            unequal[each.name] = str(reason)
    return unequal


def ours_at(bench, threads):
    folder = bench.environment.images / "train"
    return {"ours f32": scenarios.images(folder, "f32", threads), "ours u8": scenarios.images(folder, "u8", threads),
            "ours u8 linear": scenarios.images(folder, "u8", threads, antialias=False)}


def of_peer(each):
    return f"ours {each.out}" + ("" if each.antialias else " linear") + (" shards" if each.shards else "")


def at(bench, options, threads, unequal):
    folder = bench.environment.images / "train"
    ours = ours_at(bench, threads)
    ours["ours u8 shards"] = scenarios.images(f"{folder}-*.tar", "u8", threads, shards=True)
    makers = {name: functools.partial(bench.ours, name, scenario) for name, scenario in ours.items()}
    for each in scenarios.IMAGE_PEERS:
        if each.name not in unequal:
            where = f"{folder}-" if each.shards else folder
            makers[each.name] = functools.partial(bench.peer, each.name, "images",
                                                  scenarios.peer_images(each.peer, each.out, threads, where))
    makers["floor"] = ceiling(bench, threads, 8)
    with contest.started(makers) as (there, missing):
        answers, failed = contest.rounds(there, options.rounds, do="epoch")
    contest.require([*ours, "floor"], missing, failed)
    limit = statistics.median(rates(answers["floor"])) / rows_needed()
    for name in ours:
        gates.require_each_once(answers[name], environment.IMAGES)
    found = []
    for each in scenarios.IMAGE_PEERS:
        name = f"{each.name}, T={threads}"
        reason = ((unequal | missing | failed).get(each.name)
                  or gates.uneven(answers[each.name], environment.IMAGES))
        bounds = {"must": each.must, "stretch": each.stretch}
        if reason:
            found.append(contest.Comparison("C6", name, None, note=reason, **bounds))
            continue
        mine, theirs = answers[of_peer(each)], answers[each.name]
        bounds["limit"] = limit / statistics.median(rates(theirs))
        found.append(contest.compare("C6", name, mine, theirs, **bounds))
    return found


def c6(bench, options):
    unequal = check_pixels(bench)
    return [comparison for threads in THREADS for comparison in at(bench, options, threads, unequal)]


def c7(bench, options):
    makers = {name: functools.partial(bench.ours, name, scenario) for name, scenario in ours_at(bench, 2).items()}
    makers["ceiling"] = ceiling(bench, 2, 1)
    makers["floor"] = ceiling(bench, 2, 8)
    with contest.started(makers) as (there, missing):
        answers, failed = contest.rounds(there, options.rounds, do="epoch")
    contest.require(makers, missing, failed)
    decoding = answers["ceiling"]
    limit = statistics.median(rates(answers["floor"])) / rows_needed() / statistics.median(rates(decoding))
    return [contest.compare("C7", f"libjpeg-turbo decoding alone, T=2; {name[5:]}", answers[name], decoding,
                            limit=limit, must=must, stretch=stretch)
            for name, must, stretch in (("ours u8 linear", 0.75, 0.9), ("ours u8", 0.55, 0.8), ("ours f32", 0.55, 0.8))]
