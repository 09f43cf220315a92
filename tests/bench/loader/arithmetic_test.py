"""The arithmetic of the loader's benchmark on made-up times, and what it writes of them."""

import json
import pathlib
import unittest
from unittest import mock

import bench
import contest
import environment
import gates
import machine
from rows import images, memory, scaling, starting


def answers(*rates):
    """One for each rate, with every clock at that rate."""
    return [{"samples": 100, "cpu": 100 / rate, "wall": 100 / rate, "others": 0.0, "threads": 2} for rate in rates]


class Arithmetic(unittest.TestCase):
    def test_a_ratio_is_the_median_of_rounds_beside_the_lowest_and_the_highest(self):
        self.assertEqual(contest.ratio_of([2.0, 9.0, 4.0], [1.0, 3.0, 1.0]), (3.0, 2.0, 4.0))

    def test_a_ratio_pairs_rounds_and_not_medians(self):
        # Both slow down in the second round: the medians' ratio would be 2.
        self.assertEqual(contest.ratio_of([6.0, 3.0, 8.0], [2.0, 1.0, 4.0])[0], 3.0)

    def test_more_samples_a_second_than_the_peer_is_above_one(self):
        found = contest.compare("C6", "peer", answers(300.0, 200.0), answers(100.0, 100.0), must=2.4)
        self.assertEqual((found.ratio, found.low, found.high, found.wall), (2.5, 2.0, 3.0, 2.5))
        self.assertEqual((found.ours, found.theirs), ("250 img/core-s", "100 img/core-s"))

    def test_the_slowest_and_the_fastest_are_chosen_by_medians_and_compared_by_rounds(self):
        rates = {"a": answers(100.0, 100.0, 100.0), "b": answers(80.0, 90.0, 200.0), "c": answers(95.0, 95.0, 10.0)}
        self.assertEqual(scaling.by_rounds(rates, "cpu", ["a", "b"], ["b", "c"]), (0.9, 0.8, 2.0))

    def test_flatness_asks_what_more_workers_than_cores_cost(self):
        rates = {f"ours {workers}": answers(rate) for workers, rate in ((1, 60.0), (2, 100.0), (4, 90.0), (8, 96.0))}
        (wall, slowest), (cpu, dearest) = scaling.flatness(rates, [1, 2, 4, 8], 2)
        self.assertEqual(wall, "slowest of 2, 4, 8 workers by the best of 1, 2, 4, 8, wall")
        self.assertEqual(cpu, "dearest of 2, 4, 8 workers by the cheapest of 1, 2, cpu")
        self.assertEqual((slowest[0], dearest[0]), (0.9, 0.9))

    def test_one_worker_that_is_the_cheapest_counts(self):
        rates = {f"ours {workers}": answers(rate) for workers, rate in ((1, 125.0), (2, 100.0), (4, 100.0), (8, 100.0))}
        _, (_, dearest) = scaling.flatness(rates, [1, 2, 4, 8], 2)
        self.assertEqual(dearest[0], 0.8)

    def test_a_bound_is_how_often_the_measured_value_fits_into_it(self):
        found = starting.within("C12", "a batch", 20.0, [5.0, 10.0, 4.0], "µs", stretch=5.0)
        self.assertEqual((found.ratio, found.low, found.high, found.must, found.stretch), (4.0, 2.0, 5.0, 1.0, 4.0))

    def test_growth_is_the_slope_behind_the_first_two_epochs(self):
        self.assertAlmostEqual(memory.slope([900.0, 10.0, 100.0, 103.0, 106.0, 109.0]), 3.0)

    def test_the_many_names_have_the_length_that_is_allowed_for_them(self):
        with mock.patch.object(environment, "MANY_FILES", 11):
            # "n00000000/00000000_0.jpg" ten times, and one of two digits.
            self.assertAlmostEqual(environment.many_name_bytes(), (10 * 24 + 25) / 11)

    def test_a_window_at_random_needs_more_than_half_of_the_rows_and_not_all(self):
        self.assertTrue(0.5 < images.rows_needed(500) < 1.0)

    def test_an_epoch_that_repeats_a_sample_does_not_count(self):
        self.assertIsNone(gates.uneven([{"ids": [2, 0, 1]}], 3))
        self.assertIn("each of the 3", gates.uneven([{"ids": [0, 1, 2]}, {"ids": [0, 1, 1]}], 3))


class Written(unittest.TestCase):
    def test_a_line_holds_the_eight_values_of_a_comparison(self):
        line = contest.Comparison("C6", "peer, T=2", 2.5, 2.0, 3.0, must=2.4, stretch=3.5, limit=5.0, note="contended")
        self.assertEqual(
            json.loads(bench.kept(line), object_pairs_hook=list),
            [("row", "C6"), ("peer", "peer, T=2"), ("ratio", 2.5), ("low", 2.0), ("high", 3.0), ("must", 2.4),
             ("stretch", 3.5), ("limit", 5.0)])

    def test_a_missing_one_has_a_line_without_a_ratio(self):
        line = json.loads(bench.kept(contest.Comparison("C6", "peer", None, must=1.4, note="not there")))
        self.assertEqual(line, {"row": "C6", "peer": "peer", "ratio": None, "low": None, "high": None, "must": 1.4,
                                "stretch": None, "limit": None})

    def test_the_verdict_is_by_the_bounds(self):
        def verdict(ratio, must=1.0, stretch=2.0):
            return bench.verdict(contest.Comparison("C6", "peer", ratio, must=must, stretch=stretch))

        self.assertEqual([verdict(None), verdict(0.99), verdict(1.0), verdict(2.0), verdict(0.1, None)],
                         ["missing", "BELOW", "holds", "stretch", ""])


class Builds(unittest.TestCase):
    RELEASE = {"type": "Release", "flags": "", "optimised": True, "compiler": "gcc 12"}

    def test_a_build_that_is_slower_than_a_release_is_refused(self):
        self.assertIsNone(machine.unfit(self.RELEASE))
        self.assertIn("Debug", machine.unfit(self.RELEASE | {"type": "Debug", "optimised": False}))
        self.assertIn("without optimisation", machine.unfit(self.RELEASE | {"optimised": False}))
        self.assertIn("RelWithDebInfo", machine.unfit(self.RELEASE | {"type": "RelWithDebInfo"}))
        self.assertIn("no type", machine.unfit(self.RELEASE | {"type": ""}))
        self.assertIn("sanitizers", machine.unfit(self.RELEASE | {"flags": "-O1 -fsanitize=thread"}))

    def test_the_machines_line_tells_the_build(self):
        self.assertTrue(machine.described(self.RELEASE).endswith("Release by gcc 12"))

    def test_a_build_that_is_not_there_is_named(self):
        with self.assertRaises(SystemExit) as ended:
            bench.require_fit_build(pathlib.Path("no-build"))
        self.assertIn("no-build: it does not start", str(ended.exception))


if __name__ == "__main__":
    unittest.main()
