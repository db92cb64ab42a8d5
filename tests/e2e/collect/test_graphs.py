"""Kernels inside CUDA graphs belong to the op that captured them, below the op that launches the graph."""

import contextlib
import sqlite3

from harness import EndToEndTest

MODULE = "/step/Graphed/Net"
FORWARD = {
    (f"{MODULE}/aten::linear/aten::addmm", "fprop", "aten::addmm"): ("nvjet_tst_128x64_64x8_2x1_v_bz_TNT", 1),
    (f"{MODULE}/aten::linear(2)/aten::addmm", "fprop", "aten::addmm"): ("nvjet_tst_128x64_64x8_2x1_v_bz_TNT", 1),
    (f"{MODULE}/aten::gelu", "fprop", "aten::gelu"): ("add_in_place", 1),
    (f"{MODULE}/aten::scaled_dot_product_attention/aten::_flash_attention_forward", "fprop", "aten::_flash_attention_forward"): (
        "volta_sgemm_128x64_nn",
        1,
    ),
}
BACKWARD = {
    (f"{MODULE}/aten::linear(2)/aten::addmm", "bprop", "aten::mm"): ("volta_sgemm_128x64_nn", 1),
    (f"{MODULE}/aten::linear(2)/aten::addmm", "bprop", "aten::sum"): ("rotate", 1),
}


class ReadsDatabase(EndToEndTest):
    def rows(self, query):
        with contextlib.closing(sqlite3.connect(self.folder / "dlkprof_dldb.sqlite")) as connection:
            return connection.execute(query).fetchall()

    def notices(self, column="what"):
        return " ".join(text for (text,) in self.rows(f"SELECT {column} FROM notice"))


class GraphsTest(ReadsDatabase):
    def works(self, *steps, options=(), **more):
        """Of the work in graphs: (iteration, op, direction, type) -> [kernel, how often]."""
        self.profile_unharmed(*steps, options=["--replay-mode=none", *options], **more)
        found = {}
        with contextlib.closing(sqlite3.connect(self.folder / "dlkprof_dldb.sqlite")) as connection:
            for row in connection.execute("SELECT iteration, op_name, direction, op_type, kernel_name, count(*) FROM kernels "
                                          "WHERE in_graph GROUP BY 1, 2, 3, 4, 5"):  # fmt: skip
                found[row[:4]] = row[4:]
        return found

    def test_each_kernel_has_the_op_that_captured_it(self):
        # Through a clone of the graph, a child graph, an update in the middle, and when the graphs are destroyed.
        steps = 6
        works = self.works(f"graphs:{steps}")
        expected = {(step, *op): kernel for step in range(steps) for op, kernel in (FORWARD | BACKWARD).items()}
        self.assertEqual(expected, works)
        self.assertNotIn("before profiling began", self.notices())

    def test_a_graph_launch_is_one_call(self):
        self.works("graphs:4", options=["--iter_start=0"])
        calls = dict(self.rows("SELECT op_type, sum(calls) FROM detail WHERE op_name LIKE '/step/Graphed/%' GROUP BY 1"))
        # There are two linear ops.
        self.assertEqual({"aten::addmm": 8, "aten::gelu": 4, "aten::_flash_attention_forward": 4, "aten::mm": 4, "aten::sum": 4},
                         calls)  # fmt: skip

    def test_folding_the_database_again_gives_the_same(self):
        self.works("graphs:4")
        query = "SELECT op_name, direction, op_type FROM detail WHERE op_name LIKE '/step/Graphed/%' ORDER BY op_id"
        before = self.rows(query)
        self.assertEqual(len(FORWARD) + len(BACKWARD), len(before))
        done = self.dlkprof("--database=dlkprof_dldb.sqlite", "--iter_start=0")
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual(before, self.rows(query))
        self.assertEqual([(4,)], self.rows("SELECT calls FROM detail WHERE op_type = 'aten::gelu' AND op_name LIKE '/step/%'"))

    def test_a_program_that_launches_nothing_but_graphs(self):
        for options in ((), ("--replay-mode=none",), ("--replay-mode=kernel",)):
            with self.subTest(options=options):
                self.profile_unharmed("built_graph:20", options=["--force", *options])
                self.assertEqual([("add_in_place", 40), ("rotate", 20)],
                                 self.rows("SELECT kernel_name, count(*) FROM kernels WHERE in_graph GROUP BY 1 ORDER BY 1"))  # fmt: skip
        done = self.profile_unharmed("built_graph:20", options=["--force", "--timeline=off", "--replay-mode=kernel"])
        self.assertIn("The program launched CUDA graphs alone", " ".join(done.stderr.split()))

    def test_threads_that_capture_side_by_side(self):
        works = self.works("captures:4:3")
        ops = {op for _, op, _, _ in works}
        expected = {f"/serve_{thread}/op_{thread}" + (f"({i})" if i > 1 else "") for thread in range(4) for i in range(1, 21)}
        self.assertEqual(expected, ops)

    def test_where_cupti_does_not_number_graphs(self):
        for call in ("cuptiGetGraphNodeId", "cuptiGetGraphId"):
            with self.subTest(call=call):
                self.works("graphs:3", options=["--force"], env={"FAKE_CUPTI_FAIL": f"{call}=CUPTI_ERROR_UNKNOWN"})
                self.assertEqual([(3 * 6,)], self.rows("SELECT count(*) FROM kernels WHERE in_graph"), "all is still counted")
        self.works("graphs:3", options=["--force"], env={"FAKE_CUPTI_FAIL": "cuptiGetGraphNodeId=CUPTI_ERROR_UNKNOWN"})
        self.assertEqual({"/step/Graphed"}, {op for (op,) in self.rows("SELECT DISTINCT op_name FROM kernels WHERE in_graph")})
        self.assertIn("made before profiling began or while CUPTI was detached, counted for the op that launches the graph",
                      self.notices())  # fmt: skip

    def test_without_a_timeline_graphs_cost_nothing(self):
        self.profile_unharmed("graphs:3", options=["--timeline=off"])

    def test_under_every_replay_mode(self):
        for mode in ("kernel", "iteration", "auto", "sample"):
            with self.subTest(mode=mode):
                self.profile_unharmed("graphs:4", options=[f"--replay-mode={mode}", "--force"])
                ops = {op for (op,) in self.rows("SELECT DISTINCT op_name FROM kernels WHERE in_graph")}
                self.assertEqual({op for op, _, _ in FORWARD | BACKWARD}, ops)
