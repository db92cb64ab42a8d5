"""Part graphs: an op that is not the one of the run without graphs must not pass."""

import sqlite3
import unittest

import graph_ops
from graph_ops import Work
from harness import CheckFailed


def work(kernel, op, op_type, in_graph=True, iteration=1, direction="fprop", gpu_ns=100):
    return Work(kernel, iteration, op, op_type, direction, gpu_ns, in_graph)


def iterations(works, count=3):
    return [Work(one.kernel, i, one.op, one.type, one.direction, one.gpu_ns, one.in_graph) for i in range(count) for one in works]


EAGER = iterations(
    [
        work("gemm", "/net/a/aten::mm", "aten::mm", False),
        work("gemm", "/net/b/aten::addmm(2)", "aten::addmm", False),
        work("relu", "/net/b/aten::relu", "aten::relu", False),
    ]
)
GRAPHED = [
    work("gemm", "/step/Graphed/net/a/aten::mm", "aten::mm"),
    work("gemm", "/step/Graphed/net/b/aten::addmm", "aten::addmm"),
    work("relu", "/step/Graphed/net/b/aten::relu", "aten::relu"),
]


class GraphOpsTest(unittest.TestCase):
    def test_the_same_ops_pass(self):
        self.assertEqual((100.0, ""), graph_ops.by_order(iterations(GRAPHED), EAGER))
        self.assertEqual(100.0, graph_ops.by_kernel(iterations(GRAPHED), EAGER)[0])

    def test_ops_that_are_exchanged_do_not(self):
        share, differing = graph_ops.by_order(iterations([GRAPHED[1], GRAPHED[0], GRAPHED[2]]), EAGER)
        self.assertAlmostEqual(100 / 3, share)
        self.assertIn("33.3 % gemm: aten::addmm/fprop/aten::addmm, not aten::mm/fprop/aten::mm", differing)

    def test_a_kernel_of_one_side_only_moves_no_other(self):
        more = [work("gemm", "/cast/aten::addmm", "aten::addmm"), *GRAPHED]
        self.assertEqual(100.0, graph_ops.by_order(iterations([*more, *GRAPHED]), EAGER + EAGER)[0])
        outside = [work("relu", "/loss/aten::relu", "aten::nll_loss", False), *GRAPHED]
        self.assertEqual(100.0, graph_ops.by_order(iterations(outside), EAGER)[0])

    def test_the_op_that_launches_does_not(self):
        launched = iterations([work(one.kernel, "/step/Graphed", "Graphed") for one in GRAPHED])
        self.assertEqual(0.0, graph_ops.by_order(launched, EAGER)[0])
        self.assertEqual(0.0, graph_ops.by_kernel(launched, EAGER)[0])

    def test_another_direction_does_not(self):
        turned = iterations([work(one.kernel, one.op, one.type, direction="bprop") for one in GRAPHED])
        self.assertEqual(0.0, graph_ops.by_order(turned, EAGER)[0])

    def test_a_kernel_that_is_not_there_without_graphs_does_not(self):
        share, differing = graph_ops.by_order(iterations([*GRAPHED, work("other", "/x", "x")]), EAGER)
        self.assertEqual(75.0, share)
        self.assertIn("not there", differing)

    def test_without_graphs_there_is_nothing_to_compare(self):
        with self.assertRaisesRegex(CheckFailed, "no kernel ran in a graph"):
            graph_ops.by_order(EAGER, EAGER)
        with self.assertRaisesRegex(CheckFailed, "steady iterations"):
            graph_ops.by_order([], EAGER)

    def test_the_usual_iteration_is_compared(self):
        odd = [work("gemm", "/other", "other", iteration=9)]
        self.assertEqual(100.0, graph_ops.by_order(iterations(GRAPHED) + odd, EAGER)[0])

    def test_share(self):
        works = [work("a", "/a", "a", gpu_ns=300), work("b", "/b", "command_buffer", gpu_ns=100)]
        self.assertEqual(75.0, graph_ops.share_of(works, lambda one: one.type != "command_buffer"))
        self.assertEqual(0.0, graph_ops.share_of([], lambda one: True))

    def test_views_have_the_columns(self):
        connection = sqlite3.connect(":memory:")
        connection.execute(
            "CREATE VIEW kernels AS SELECT 'kernel' AS kind, 'k' AS long_kernel_name, 1 AS iteration, '/o' AS op_name, "
            "'o' AS op_type, '' AS direction, 5 AS gpu_ns, 1 AS in_graph, 7 AS gpu_start_ns"
        )
        self.assertEqual([("k", 1, "/o", "o", "", 5, 1)], connection.execute(graph_ops.QUERY, (0, 2)).fetchall())
