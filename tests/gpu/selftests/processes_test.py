"""The part processes: what the spread of processes explains passes, what it does not fails; writes are held against sampled ones."""

import unittest

from harness import CheckFailed
from part_processes import METRICS, STALLS, WHOLES, WRITTEN, beside_sampled
from process_table import ProcessTable, means

KEY = ("kernel", 1, 1, 1, 32, 1, 1)
LONG = {whole: 20000.0 for whole in WHOLES}


def processes(*values, key=KEY, **more):
    return means([{key: {WRITTEN: value, **LONG, **more}} for value in values], (WRITTEN, *WHOLES))


class ProcessTableTest(unittest.TestCase):
    def table(self, ours, reference):
        return ProcessTable(ours, reference, (WRITTEN,), WHOLES)

    def test_means_within_the_limits(self):
        words = self.table(processes(1000, 1010, 1020), processes(1000, 1000, 1000)).verdict()
        self.assertIn(f"{WRITTEN} 1.00 % and 1.00 %, 0.00 % and 0.00 % more than processes differ by (n = 1)", words)

    def test_what_processes_of_a_way_differ_by_passes(self):
        table = self.table(processes(700, 1000, 1900), processes(800, 1000, 1200))
        self.assertIn(f"{WRITTEN} 20.00 % and 20.00 %, 0.00 % and 0.00 % more", table.verdict())
        self.assertIn(f"| `{WRITTEN}` | `kernel` | 1x1x1x32x1x1 | 1200 ± 6.2e+02 (3) | 1000 ± 2e+02 (3) |", table.markdown())

    def test_what_they_do_not_explain_fails(self):
        with self.assertRaisesRegex(CheckFailed, f"{WRITTEN} 20.00 % and 20.00 %, 18.37 % and 18.37 % more"):
            self.table(processes(1190, 1200, 1210), processes(990, 1000, 1010)).verdict()

    def test_other_figures_are_left_out(self):
        same = processes(1000, 1000, 1000)
        for others in (processes(1000, 1000), processes(1, 1, 1, key=("other", *KEY[1:]))):
            with self.assertRaisesRegex(CheckFailed, "no launch was measured both ways"):
                self.table(others, same)
        near_zero, short = processes(1, 1, 1), processes(1000, 1000, 1000, **{"gpu__time_duration.sum": 9999.0})
        for ours, reference in ((near_zero, near_zero), (short, same)):
            with self.assertRaisesRegex(CheckFailed, "nothing of 10 us and more"):
                self.table(ours, reference).verdict()

    def test_every_stall_says_what_it_is_a_part_of(self):
        figures = [{KEY: {**{metric: 1000.0 for metric in METRICS}, **LONG}} for _ in range(3)]
        table = ProcessTable(means(figures, (*METRICS, *WHOLES)), means(figures, METRICS), STALLS, WHOLES)
        self.assertEqual(set(STALLS), set(table.rows))


class BesideSampledTest(unittest.TestCase):
    SAMPLED = means(3 * [{KEY: {WRITTEN: 1000.0}, ("rare",): {}}], (WRITTEN,))

    def tables(self, windows, ncu):
        of_ncu = means(3 * [{KEY: {metric: float(ncu) for metric in METRICS}}], METRICS)
        return beside_sampled(processes(*3 * [windows]), of_ncu, self.SAMPLED)

    def test_both_are_held_against_what_was_sampled(self):
        windows, ncu = self.tables(1020, 1500)
        self.assertIn(f"{WRITTEN} 2.00 % and 2.00 %, 2.00 % and 2.00 % more than processes differ by (n = 1)", windows.verdict())
        self.assertIn(f"{WRITTEN} 50.00 % and 50.00 %", ncu.words())
        windows, ncu = self.tables(1500, 1020)
        with self.assertRaisesRegex(CheckFailed, f"{WRITTEN} 50.00 % and 50.00 %"):
            windows.verdict()

    def test_nothing_sampled_fails(self):
        with self.assertRaisesRegex(CheckFailed, "no launch was measured both ways"):
            beside_sampled(processes(1, 1, 1), {}, {})
