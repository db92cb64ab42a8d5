"""Part coverage: the process that lacks most decides, and collectives, copies, graphs and warm-up count for none."""

import sqlite3
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import part_coverage
from harness import CheckFailed

TABLES = """
    CREATE TABLE kernel (id, mangled); INSERT INTO kernel VALUES (1, 'gemm'), (2, '_Z4ncclDevKernel');
    CREATE TABLE config (id, process, kernel);
    INSERT INTO config VALUES (1, 1, 1), (2, 1, 1), (3, 1, 2), (4, 2, 1);
    CREATE TABLE metric_set (id, passes); INSERT INTO metric_set VALUES (1, 1), (2, 15);
    CREATE TABLE measured_launch (config, metric_set, passes);
    INSERT INTO measured_launch VALUES (1, 1, 1), (1, 2, 15), (2, 1, 1), (2, 2, 14), (4, 2, 15);
    CREATE TABLE aggregation (id, first_iteration, last_iteration); INSERT INTO aggregation VALUES (1, 2, 9);
    CREATE TABLE activity (id, config, in_graph, start_ns, end_ns); CREATE TABLE placement (activity, aggregation, iteration);
    CREATE TABLE launch_count (config, launches, timed, timed_gpu_ns);
    INSERT INTO launch_count VALUES (1, 40, 10, 100), (2, 30, 10, 100), (3, 40, 40, 900), (4, 19, 19, 100)"""
# config, in_graph, ns, iteration
WORKS = ((1, 0, 60, 2), (2, 0, 20, 9), (3, 0, 900, 5), (4, 0, 10, 5), (None, 0, 500, 5), (2, 1, 700, 5), (2, 0, 800, 1))


class CoverageTest(unittest.TestCase):
    def coverage(self, works, often, **more):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dlkprof_dldb.sqlite"
            with sqlite3.connect(path) as connection:
                connection.executescript(TABLES)
                for number, (config, in_graph, ns, iteration) in enumerate(works):
                    connection.execute("INSERT INTO activity VALUES (?, ?, ?, 0, ?)", (number, config, in_graph, ns))
                    connection.execute("INSERT INTO placement VALUES (?, 1, ?)", (number, iteration))
            return part_coverage.coverage(path, often, **more)

    def test_each_process_has_a_share(self):
        self.assertEqual([(100, 75, 1), (100, 100, 0)], self.coverage(WORKS, often=False))

    def test_kernels_in_graphs_count_where_they_are_to(self):
        self.assertEqual([(100, 100 * 60 / 780, 1), (100, 100, 0)], self.coverage(WORKS, often=False, graphs=True))

    def test_what_is_launched_often_counts_by_all_its_launches(self):
        self.assertEqual([(100 * 700 / 1600, 25, 2)], self.coverage((), often=True))

    def test_a_run_without_kernels_does_not_pass(self):
        self.assertRaises(CheckFailed, self.coverage, ((None, 0, 500, 5),), False)

    def judged(self, *pairs, most_added=8, share=99.0):
        case = part_coverage.Case("made_up", ("made_up.py",), share=share, most_added=most_added)
        with mock.patch.object(part_coverage, "measure", side_effect=pairs) as measure:
            detail = part_coverage.judge(None, case)
        return measure.call_count, detail

    def test_the_median_of_several_pairs_is_what_is_added(self):
        whole = (100, 100, 0)
        runs, detail = self.judged((whole, 12, 19.2), (whole, 11, 21.9), (whole, 14, 20.8))
        self.assertEqual(3, runs)
        self.assertIn("12.0 (11.0 to 14.0) s alone, +7.2 (+6.8 to +10.9) s, n 3", detail)
        self.assertRaises(CheckFailed, self.judged, (whole, 12, 20.1), (whole, 11, 21.9), (whole, 14, 20.8))

    def test_one_pair_where_nothing_limits_the_time(self):
        self.assertEqual(1, self.judged(((100, 100, 0), 12, 99), most_added=None)[0])

    def test_the_run_that_measured_least_decides(self):
        whole, part = (100, 100, 0), (100, 98, 3)
        self.assertRaises(CheckFailed, self.judged, (whole, 1, 2), (part, 1, 2), (whole, 1, 2))


if __name__ == "__main__":
    unittest.main()
