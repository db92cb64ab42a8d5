"""Part graph_counters: kernels in graphs without all metrics, and graphs left whole without a reason, must not pass."""

import sqlite3
import unittest

import part_graph_counters
from harness import CheckFailed


def database(measured=(), notice=None, alone=1):
    """A run of two configurations in graphs, of 30 and 70 ns; `measured`: those that have all 15 passes; `alone`: kernels of graphs
    that were launched by themselves, with times that their counters gave."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        """
        CREATE TABLE metric_set (id, passes); INSERT INTO metric_set VALUES (1, 1), (2, 15);
        CREATE TABLE measured_launch (config, metric_set, passes); INSERT INTO measured_launch VALUES (1, 1, 1), (2, 1, 1), (2, 2, 14);
        CREATE TABLE activity (config, in_graph, start_ns, end_ns, replayed);
        INSERT INTO activity VALUES (1, 1, 0, 30, 0), (2, 1, 0, 70, 0), (3, 0, 0, 900, 1), (NULL, 1, 0, 50, 0);
        CREATE TABLE notice (what, detail);"""
    )
    connection.executemany("INSERT INTO measured_launch VALUES (?, 2, 15)", [(config,) for config in measured])
    connection.executemany("INSERT INTO activity VALUES (1, 1, NULL, NULL, 1)", [()] * alone)
    if notice:
        connection.execute("INSERT INTO notice VALUES (?, '1 graph: the program updates it')", (notice,))
    return connection


class GraphCountersTest(unittest.TestCase):
    def test_all_that_runs_in_graphs_has_to_be_measured(self):
        self.assertIn("100.0 %", part_graph_counters.verdict(database(measured=(1, 2)), ""))
        for measured in ((), (1,), (2,)):
            with self.assertRaises(CheckFailed):
                part_graph_counters.verdict(database(measured), "")

    def test_figures_from_before_the_capture_are_none_of_graphs(self):
        with self.assertRaises(CheckFailed):
            part_graph_counters.verdict(database(measured=(1, 2), alone=0), "")

    def test_graphs_that_are_left_whole_are_told(self):
        notice = "kernels of some CUDA graphs were not measured one by one"
        with self.assertRaisesRegex(CheckFailed, "the program updates it"):
            part_graph_counters.verdict(database(notice=notice), "")
