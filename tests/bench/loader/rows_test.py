"""The rows of the loader's benchmark with contenders that only pretend: a peer that is missing or fails on the way is
named, and costs nobody else a line."""

import array
import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import types
import unittest
from unittest import mock

import bench
import contest
import environment
import gates
import scenarios
from contender import Missing
from rows import images, memory, scaling, small_images, starting

ABSENT, DIED = "ModuleNotFoundError: No module named 'peer'", "it ended with -9: out of memory"
OPTIONS = types.SimpleNamespace(rounds=2, quick=True)


class Fake:
    """A contender in this process: what it answers to each command, and behind how many of them it fails."""

    def __init__(self, about=None, fails_at=None, **by_command):
        self.about = about or {}
        self.asked = 0
        self.closed = False
        self._by_command = by_command
        self._fails_at = fails_at

    def ask(self, do, **command):
        self.asked += 1
        if self._fails_at is not None and self.asked > self._fails_at:
            raise Missing(DIED)
        answer = self._by_command[do]
        return dict(answer(command) if callable(answer) else answer)

    def close(self):
        self.closed = True


class FakeBench:
    """Makes contenders by functions of (name, scenario), and keeps them."""

    def __init__(self, of_ours, of_peers):
        self.made = []
        self._ours, self._peers = of_ours, of_peers
        self.environment = types.SimpleNamespace(images=pathlib.Path("images"), python=sys.executable,
                                                 many_files=lambda: pathlib.Path("many"))

    def ours(self, name, scenario):
        return self._kept(self._ours(name, scenario))

    def peer(self, name, script, scenario):
        return self._kept(self._peers(name, script, scenario))

    def _kept(self, contender):
        self.made.append(contender)
        return contender


def absent(*_):
    raise Missing(ABSENT)


def epoch(count):
    return {"samples": count, "wall": 0.5, "cpu": 0.5, "threads": 2, "ids": list(range(count))}


def stream(_name, _scenario, hashes=tuple(range(64))):
    """Ours, whatever a row asks for."""
    return Fake({"items": 1000, "open_seconds": 0.5, "index_megabytes": 0.04}, epoch=epoch(environment.IMAGES),
                memory={"megabytes": [100.0] * 6}, turns={"turns": [0.1, 0.2]}, copy={"bytes_a_second": 1e10},
                **{"from": lambda command: {"first": 0.01, "hashes": hashes[command["batch"]:]}})


class Rounds(unittest.TestCase):
    def test_one_that_dies_on_the_way_is_named_and_the_others_keep_their_rounds(self):
        contenders = {"a": Fake(epoch=epoch(4)), "b": Fake(fails_at=2, epoch=epoch(4)), "c": Fake(epoch=epoch(4))}
        found, failed = contest.rounds(contenders, 3, do="epoch")
        self.assertEqual({name: len(each) for name, each in found.items()}, {"a": 3, "c": 3})
        self.assertEqual(failed, {"b": DIED})
        self.assertEqual(contenders["b"].asked, 3)  # and it is not asked again

    def test_one_that_failed_keeps_its_first_reason(self):
        there, missing = {"a": Fake(fails_at=0)}, {}
        self.assertEqual(contest.asked(there, missing, "a", 2, do="fresh"), [])
        there["a"] = None
        self.assertEqual(contest.asked(there, missing, "a", do="turns"), [])
        self.assertEqual(missing, {"a": DIED})


class Rows(unittest.TestCase):
    """Whatever happens to peers, a row has its own lines, and those of the others."""

    def lines(self, row, made, *reasons):
        """{peer: its ratio} as the row writes them, with these reasons shown; all contenders are closed behind it."""
        out = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            bench.measure({"C0": row}, made, OPTIONS, out)
        for reason in reasons:
            self.assertIn(reason, printed.getvalue())
        self.assertTrue(all(contender.closed for contender in made.made))
        return {line["peer"]: line["ratio"] for line in map(json.loads, out.getvalue().splitlines())}

    def require_missing(self, found, *names):
        """These lines, and no others, are without a ratio."""
        self.assertEqual({name for name, ratio in found.items() if ratio is None}, set(names))

    def test_a_row_without_ours_is_named_and_the_next_one_is_measured(self):
        out = io.StringIO()
        rows = {"C1": absent, "C2": lambda *_: [contest.Comparison("C2", "peer", 2.0)]}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            bench.measure(rows, None, OPTIONS, out)
        first, second = map(json.loads, out.getvalue().splitlines())
        self.assertEqual((first["row"], first["ratio"], second["row"], second["ratio"]), ("C1", None, "C2", 2.0))
        self.assertIn(ABSENT, printed.getvalue())

    def test_the_first_batch_of_ours_needs_no_peer(self):
        peer = "DataLoader v2 u8, first batch, T=2"
        for make, reason in ((absent, ABSENT), (lambda *_: Fake(fails_at=0), DIED)):
            found = self.lines(starting.c10, FakeBench(stream, make), f"{peer}\n", reason)
            self.assertEqual(len(found), 3)
            self.require_missing(found, peer)

    def test_a_peer_that_dies_behind_its_first_batch_keeps_its_line(self):
        made = FakeBench(stream, lambda *_: Fake(fails_at=OPTIONS.rounds, fresh={"first": 0.3}))
        found = self.lines(starting.c10, made, DIED)
        self.assertEqual(len(found), 3)
        self.assertAlmostEqual(found["DataLoader v2 u8, first batch, T=2"], 30.0)

    def test_over_a_large_index_each_peer_fails_alone(self):
        def peer(_name, _script, scenario):
            fails = {"fork": None, "forkserver": 1, "spawn": 0}[scenario["context"]]
            return Fake(fails_at=fails, first={"first": 0.3})

        found = self.lines(lambda made, _: starting.large_index(made), FakeBench(stream, peer), DIED)
        self.assertEqual(len(found), 5)
        self.require_missing(found, *(f"DataLoader over a list of 1,000 paths, {context}, 4 workers: first batch"
                                      for context in ("forkserver", "spawn")))

    def test_going_on_within_an_epoch_needs_no_peer(self):
        made = FakeBench(stream, lambda *_: Fake(fails_at=OPTIONS.rounds + 1, resume={"first": 0.3, "equal": True}))
        found = self.lines(starting.c13, made, DIED)
        self.assertEqual(len(found), 4)
        self.require_missing(found, "StatefulDataLoader, resumed at 50 %", "StatefulDataLoader, resumed at 90 %")

    def test_other_bytes_behind_an_interruption_cost_the_row(self):
        def changed(name, scenario):
            return stream(name, scenario, hashes=list(range(64 if name == "ours" else 63, 0, -1)))

        found = self.lines(starting.c13, FakeBench(changed, absent), "another number of threads gives other bytes")
        self.assertEqual(found, {"all": None})

    def test_memory_of_ours_needs_no_peer(self):
        made = FakeBench(stream, lambda *_: Fake(fails_at=0))
        found = self.lines(memory.c11, made, f"DataLoader over a list: {DIED}")
        self.assertEqual(len(found), 2)
        self.require_missing(found)

    def test_handing_over_needs_no_peer(self):
        found = self.lines(memory.c12, FakeBench(stream, lambda *_: Fake(fails_at=1, epoch=epoch(20))), DIED)
        self.assertEqual(len(found), 4)
        self.require_missing(found, "DataLoader, 1 worker, f32", "DataLoader, 1 worker, u8")

    def test_scaling_names_the_peer_that_died(self):
        most = scaling.WORKERS[-1]
        made = FakeBench(stream, lambda workers, *_: Fake(fails_at=1 if workers == most else None, epoch=epoch(1024)))
        found = self.lines(scaling.c9, made, f"v2 {most}: {DIED}")
        self.assertEqual(list(found.values()), [1.0] * (3 + len(scaling.KNOWN)))

    def test_images_are_compared_with_those_peers_that_do_the_same(self):
        def peer(_name, _script, scenario):
            if scenario["peer"] == "dali":
                absent()
            twice = scenario["peer"] == "webdataset"
            return Fake(fails_at=1 if scenario["peer"] == "cv2" else None,
                        epoch=epoch(environment.IMAGES) | ({"ids": [0] * environment.IMAGES} if twice else {}))

        with mock.patch.object(gates, "compared_pixels", return_value={"mean": 0.1, "most": 2.0}):
            found = self.lines(images.c6, FakeBench(stream, peer), ABSENT, DIED, "not each of the 1024 samples once")
        self.assertEqual(len(found), 2 * len(scenarios.IMAGE_PEERS))
        self.require_missing(found, *(f"{name}, T={threads}" for threads in (1, 2) for name in (
            "WebDataset + v2, u8", "DALI CPU, u8", "DALI CPU, f32", "Python threads + cv2, u8, no antialias")))

    def test_small_images_are_compared_with_those_peers_that_do_the_same(self):
        def some(*_):
            return Fake(epoch=epoch(small_images.COUNT), copy={"bytes_a_second": 1e10})

        same, other = {"mean": 0.1}, gates.Unequal("pixels differ by 9.00 of 255")
        with mock.patch.object(gates, "compared_pixels", side_effect=[other, same, same]):
            found = self.lines(small_images.c8, FakeBench(some, some), str(other))
        self.assertEqual(len(found), 5)
        self.require_missing(found, "torchvision PIL, f32", "torchvision PIL, f32, 2 workers")


@unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
class Pixels(unittest.TestCase):
    def compare(self, reference):
        """A grey image of bytes, and another as floats with its channels first."""
        def writes(code, value, dtype, shape):
            def pixels(command):
                pathlib.Path(command["file"]).write_bytes(array.array(code, [value] * (2 * 3 * 8 * 8)).tobytes())
                return {"dtype": dtype, "shape": shape}
            return Fake(pixels=pixels)

        made = FakeBench(lambda *_: writes("B", 51, "uint8", [2, 8, 8, 3]),
                         lambda *_: writes("f", reference, "float32", [2, 3, 8, 8]))
        return gates.compared_pixels(made, lambda: made.ours("", {}), lambda: made.peer("", "", {}), mean=[0.5] * 3,
                                     std=[0.25] * 3)

    def test_the_same_pixels_in_another_layout_are_equal(self):
        self.assertLess(self.compare((51 / 255 - 0.5) / 0.25)["most"], 0.01)

    def test_pixels_that_differ_are_told(self):
        with self.assertRaisesRegex(gates.Unequal, "pixels differ by 2.00 of 255 in the mean"):
            self.compare((53 / 255 - 0.5) / 0.25)


if __name__ == "__main__":
    unittest.main()
