"""Part detaching: a slower program, and one that dlkprof is still in, must not pass."""

import json
import random
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import part_detaching
from harness import CheckFailed, Skipped
from side_by_side import PAD, Loop, Times, in_order, ms_a_step, warm_up

LEFT = "Undisturbed median 3.1 ms; mean 3.2 ms +- 0.1 ms, n = 412, in 31.2 s without the profiler"


def turns(ratio):
    """A set of four pairs, the last of which is twice as fast as the others."""
    times = {}
    for number, step in enumerate((4.0, 4.1, 4.2, 2.0)):
        times[f"alone_{number}"] = [step, step * 1.1, step]
        times[f"ours_{number}"] = [ratio * step, ratio * step * 1.1, 3 * step]
    return times


def facts():
    return {
        f"{variant}_{number}": {"first_ms": 5, "faults": faults, "switches": 0.5, "user_us": 900, "free_chunks": 100 * faults}
        for number in range(4)
        for variant, faults in (("alone", 1), ("ours", 3))
    }


CASE = part_detaching.Case("default", (), 128, Loop("", 20, 3), 30)


class Told:
    """A process that is told to begin and to go on."""

    def __init__(self, name, calls):
        self.start = lambda batch_size: calls.append((name, batch_size))
        self.answer = lambda seconds: None
        self.turn = lambda: calls.append((name, "turn"))


class DetachingTest(unittest.TestCase):
    def judged(self, *ratios):
        def take_turns(_bench, _variants, times, *_):
            times[0].sets += [turns(ratio) for ratio in ratios]
            times[0].facts += [facts() for _ in ratios]

        bench = mock.Mock(out=Path(self.enterContext(tempfile.TemporaryDirectory())))
        bench.commands.seconds_left.return_value = 180
        with (
            # A second set would take too long.
            mock.patch.object(part_detaching.time, "monotonic", side_effect=[0, 0, 0, 100, 100]),
            mock.patch.object(part_detaching, "take_turns", take_turns),
            mock.patch.object(part_detaching, "environment_of", return_value={}),
            mock.patch.object(part_detaching, "captures_let_go", return_value=4),
        ):
            words = part_detaching.beside_alone(bench, CASE)
        kept = json.loads((bench.out / "detaching_default.json").read_text())
        self.assertEqual(kept, [[turns(ratio) for ratio in ratios], [facts() for _ in ratios]])
        return words

    def test_processes_begin_one_by_one(self):
        for one_by_one, names in ((True, 3 * ["alone"] + 3 * ["ours"]), (False, ["alone", "ours"] * 3)):
            calls = []
            warm_up([Told("alone", calls), Told("ours", calls)], 128, Loop("", 20, 3, one_by_one=one_by_one))
            self.assertEqual([name for name, _ in calls], names)

    def test_everybody_comes_first_and_neighbours_stay_together(self):
        for count in (2, 3, 8):
            rounds = [in_order(list(range(count)), turn) for turn in range(2 * count)]
            self.assertEqual(set(range(count)), {order[0] for order in rounds})
            self.assertTrue(all(set(order) == set(range(count)) for order in rounds))
        for order in rounds:
            self.assertTrue(all(one // 2 == other // 2 for one, other in zip(order[::2], order[1::2])), order)

    def test_half_of_those_alone_begin_later(self):
        with mock.patch.object(part_detaching, "environment_of", return_value={}):
            variants = part_detaching.pairs(mock.Mock(), CASE, random.Random(1))
        self.assertEqual([one.name for one in variants[:4]], ["alone_0", "ours_0", "ours_1", "alone_1"])
        self.assertEqual(len({one.environment[PAD] for one in variants}), 8)

    def test_the_first_line_of_a_turn_does_not_count(self):
        turn = {"seconds": 0.05, "first_seconds": 0.02}
        self.assertAlmostEqual(ms_a_step(turn, Loop("", 5, 1, lines=3)), 3.0)
        self.assertAlmostEqual(ms_a_step(turn, Loop("", 5, 1)), 10.0)

    def test_says_what_processes_alone_differ_by(self):
        self.assertEqual(part_detaching.apart_alone(Times(128, [turns(1.25)])), "0.9756 to 2.1000, n 3")

    def test_compares_turns_of_the_same_pair(self):
        self.assertEqual(part_detaching.ratios_of(Times(128, [turns(1.25)])), [1.25] * 4)

    def test_passes_where_steps_are_as_long_as_alone(self):
        words = self.judged(1.0, 1.0)
        self.assertIn("4.000 ms alone, 1.0000 of that", words)
        self.assertIn(
            "ms a step up to the first line of a turn 5 and 5, "
            "page faults a step 1 and 3, context switches a step 0.5 and 0.5, us of CPU time a step in the program 900 and 900",
            words,
        )
        self.assertTrue(words.endswith("free chunks in the heap at the end 100 and 300"))

    def test_fails_where_steps_are_longer(self):
        with self.assertRaises(CheckFailed):
            self.judged(1.02, 1.02)

    def test_says_nothing_of_few_pairs(self):
        with self.assertRaises(Skipped):
            self.judged(1.0)

    def test_fails_where_dlkprof_stayed(self):
        part_detaching.check_let_go(LEFT)
        for screen in ("Iteration median 3.1 ms", f"{LEFT} (CUPTI stayed loaded)"):
            with self.assertRaises(CheckFailed):
                part_detaching.check_let_go(screen)


if __name__ == "__main__":
    unittest.main()
