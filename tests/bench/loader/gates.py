"""What must hold before speed counts: the same pixels, and each sample once."""

import json
import pathlib
import subprocess
import tempfile

import contest

MEAN_DIFFERENCE = 0.5  # of 255: decoders and the rounding of filters differ by less
MOST_FOR_99_PERCENT = 2.0


class Unequal(Exception):
    """Two contenders do not do the same; the text says in what."""


def require_equal_pixels(bench, contender, reference, **scale):
    """Compares all pixels of two contenders that are set to cut nothing at random. `scale`: mean and std of floats."""
    with tempfile.TemporaryDirectory() as folder:
        described = []
        for number, each in enumerate((contender, reference)):
            file = str(pathlib.Path(folder) / str(number))
            answer = each.ask(do="pixels", file=file)
            floats = scale if answer["dtype"] == "float32" else {}
            described.append(json.dumps({"file": file, "shape": answer["shape"], "dtype": answer["dtype"]} | floats))
        script = pathlib.Path(__file__).parent / "peers" / "pixels.py"
        done = subprocess.run([bench.environment.python, script, *described], capture_output=True, text=True,
                              check=False)
    if done.returncode != 0:
        raise Unequal(f"pixels cannot be compared: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    found = json.loads(done.stdout)
    if "shapes" in found:
        raise Unequal(f"shapes {found['shapes'][0]} and {found['shapes'][1]}")
    if found["mean"] > MEAN_DIFFERENCE or found["p99"] > MOST_FOR_99_PERCENT:
        raise Unequal(f"pixels differ by {found['mean']:.2f} of 255 in the mean, the 99th percentile by "
                      f"{found['p99']:.1f}, at most by {found['most']:.0f}")
    return found


def compared_pixels(bench, ours, theirs, **scale):
    """require_equal_pixels of two that are started for it alone. Raises Missing as well."""
    with contest.started({"ours": ours, "theirs": theirs}) as (there, missing):
        contest.require(["ours"], missing)
        if missing:
            raise contest.Missing(missing["theirs"])
        return require_equal_pixels(bench, there["ours"], there["theirs"], **scale)


def uneven(answers, count):
    """Why epochs do not count; nothing where each of them gives each sample once."""
    if all(sorted(answer["ids"]) == list(range(count)) for answer in answers):
        return None
    return f"an epoch gives not each of the {count} samples once"


def require_each_once(answers, count):
    reason = uneven(answers, count)
    if reason:
        raise Unequal(reason)
