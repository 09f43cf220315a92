"""Rounds in which contenders take turns, and the ratios that come of them."""

import contextlib
import dataclasses
import os
import statistics

from contender import Missing

CONTENDED = 0.1  # share of the processors that others may use
SHORT = 0.15  # seconds


@dataclasses.dataclass
class Comparison:
    """One line of the table, and one object of the file. A ratio above 1 is better than the peer."""

    row: str
    peer: str
    ratio: float | None
    low: float | None = None
    high: float | None = None
    must: float | None = None
    stretch: float | None = None
    limit: float | None = None
    ours: str = ""
    theirs: str = ""
    wall: float | None = None
    contended: int = 0
    note: str = ""


def busy_seconds():
    """What all processors did so far, by the kernel's account."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def measured(contender, **command):
    """Its answer, with "others": the share of the processors that somebody else used meanwhile."""
    before = busy_seconds()
    answer = contender.ask(**command)
    others = busy_seconds() - before - answer["cpu"]
    # Of shorter ones the kernel's account says too little.
    known = answer["wall"] > SHORT
    answer["others"] = max(0.0, others / (answer["wall"] * os.cpu_count())) if known else 0.0
    return answer


@contextlib.contextmanager
def started(makers):
    """Contenders by name of those that could be started, and the reasons of the others."""
    there, missing = {}, {}
    try:
        for name, make in makers.items():
            try:
                there[name] = make()
            except Missing as reason:
                missing[name] = str(reason)
        yield there, missing
    finally:
        for contender in there.values():
            contender.close()


def asked(there, missing, name, times=1, **command):
    """Its answers to a command that is given so many times; none where it is missing or fails: `missing` says why."""
    if name in missing:
        return []
    try:
        return [there[name].ask(**command) for _ in range(times)]
    except Missing as reason:
        missing[name] = str(reason)
        return []


def rounds(contenders, count, warm_up=1, **command):
    """{name: answers}, by turns. What fails on the way is left out, with its reason among the second."""
    answers, failed = {name: [] for name in contenders}, {}
    for number in range(warm_up + count):
        for name, contender in contenders.items():
            if name in failed:
                continue
            try:
                answer = measured(contender, **command, round=number)
            except Missing as reason:
                failed[name] = str(reason)
                continue
            if number >= warm_up:
                answers[name].append(answer)
    return {name: found for name, found in answers.items() if name not in failed}, failed


def require(names, *reasons):
    """Raises Missing with the reason why one of these has no answers."""
    for name in names:
        for found in reasons:
            if name in found:
                raise Missing(f"{name}: {found[name]}")


def contended(*several):
    """In how many rounds others took more than they may."""
    return sum(any(answer["others"] > CONTENDED for answer in answers) for answers in zip(*several))


def ratio_of(numerators, denominators):
    """(median, lowest, highest) of the ratios round by round."""
    ratios = [a / b for a, b in zip(numerators, denominators)]
    return statistics.median(ratios), min(ratios), max(ratios)


def compare(row, peer, ours, theirs, of="cpu", unit="img/core-s", **bounds):
    """How many times more samples a second of `of` (cpu or wall) ours makes than theirs, by rounds."""
    def rates(answers, of=of):
        return [answer["samples"] / answer[of] for answer in answers]

    ratio, low, high = ratio_of(rates(ours), rates(theirs))
    wall, _, _ = ratio_of(rates(ours, "wall"), rates(theirs, "wall"))
    return Comparison(row, peer, ratio, low, high, wall=wall, contended=contended(ours, theirs),
                      ours=f"{statistics.median(rates(ours)):,.0f} {unit}",
                      theirs=f"{statistics.median(rates(theirs)):,.0f} {unit}", **bounds)
