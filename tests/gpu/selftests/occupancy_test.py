"""Part occupancy: figures that are apart, or none at all, must not pass."""

import unittest

import part_occupancy
from harness import CheckFailed


def row(kernel, occupancy, launches=100, ns=2_000_000):
    return {
        "Kernel Name": kernel,
        "Grid Size": "(8, 1, 1)",
        "Block Size": "(128, 1, 1)",
        "Dynamic Shared Memory (byte/block)": "0",
        "Launches": str(launches),
        "Samples Measured": str(launches),
        "Total GPU Time (ns)": str(ns),
        "Achieved Occupancy (%)": occupancy,
    }


NAMES = ("gemm", "relu", "add", "mul", "norm")
REPLAYED = part_occupancy.achieved([row(name, "40") for name in NAMES])


def measured(*occupancies):
    return part_occupancy.achieved([row(name, str(one)) for name, one in zip(NAMES, occupancies)])


class OccupancyTest(unittest.TestCase):
    def test_says_how_far_figures_are_apart(self):
        words = part_occupancy.compare(REPLAYED, measured(40, 41, 40.5, 40.5, 40))
        self.assertTrue(words.startswith("5 configurations: 0.50 points apart in the median, 1.00 at most (relu ("), words)

    def test_fails_where_figures_are_apart(self):
        for apart in (measured(40, 40, 43, 43, 43), measured(40, 40, 40, 40, 66)):
            with self.assertRaises(CheckFailed):
                part_occupancy.compare(REPLAYED, apart)

    def test_fails_where_few_configurations_have_both(self):
        for found in ({}, measured(40, 40), measured("", 40, 40, 40, 40)):
            with self.assertRaises(CheckFailed):
                part_occupancy.compare(REPLAYED, found)

    def test_leaves_out_what_is_short_or_ambiguous(self):
        rows = [row("gemm", "25"), row("gemm", "30"), row("relu", "50", launches=10), row("add", "50", ns=100)]
        self.assertEqual(part_occupancy.achieved(rows, 50, 10_000), {})


if __name__ == "__main__":
    unittest.main()
