"""Part layouts: what two sets of processes have in common is their addresses."""

import unittest
from unittest import mock

import part_layouts
from harness import CheckFailed
from side_by_side import Loop


class LayoutsTest(unittest.TestCase):
    def told(self, *sets):
        remaining = list(sets)

        def take_turns(_bench, variants, times, rounds, *_):
            steps = remaining.pop(0)
            if steps:
                times[0].sets.append({variant.name: rounds * [step] for variant, step in zip(variants, steps)})

        bench = mock.Mock()
        bench.commands.seconds_left.return_value = 100
        with mock.patch.object(part_layouts, "take_turns", take_turns):
            return part_layouts.differences(bench, Loop("", 20, 3), (0, 16, 64))

    def test_layouts_that_decide(self):
        self.assertIn("0.9800 to 1.0400, deviation 2.", self.told((98, 100, 104), (196, 200, 208)))
        self.assertIn("correlation of the two sets 1.00, 0.00 % apart in the median", self.told((98, 100, 104), (196, 200, 208)))

    def test_layouts_that_do_not(self):
        self.assertIn("correlation of the two sets -1.00", self.told((98, 100, 102), (102, 100, 98)))

    def test_a_set_is_missing(self):
        with self.assertRaises(CheckFailed):
            self.told((98, 100, 102), None)


if __name__ == "__main__":
    unittest.main()
