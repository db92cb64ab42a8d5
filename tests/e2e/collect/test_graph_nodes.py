"""Graph launches that are made node by node, so that kernels inside of CUDA graphs are measured as any other."""

import collections

from harness import PASSES
from test_graphs import BACKWARD, FORWARD, ReadsDatabase

ITERATION = "--replay-mode=iteration"
ONE_PASS = ["gpu__time_duration.sum"]
ADD, ROTATE = "add_in_place(float*, float const*, int)", "rotate(float*, float const*, int)"
NVJET, GEMM = "nvjet_tst_128x64_64x8_2x1_v_bz_TNT", "volta_sgemm_128x64_nn"
STEPS = 6
BY_ITSELF = collections.Counter({NVJET: 2, ADD: 1 + STEPS})  # what the program launches before it captures, and its optimizer


class GraphNodesTest(ReadsDatabase):
    def measured(self):
        return collections.Counter(row["Kernel Name"] for row in self.capture().rows if row["Replay Mode"] == "iteration")

    def measured_of(self, steps, **more):
        self.profile_unharmed(f"graphs:{steps}", options=[ITERATION, "--samples=all", "--force"], metrics=ONE_PASS, **more)
        return self.measured()

    def launches(self, *options):
        self.profile_unharmed("graphs:3", options=["--force", *options], metrics=ONE_PASS)
        return self.capture().summary["launches"]

    def test_each_kernel_of_a_graph_is_measured(self):
        # The backward graph, of GEMM and ROTATE, is updated in the middle.
        inside = collections.Counter({NVJET: 2 * STEPS, ADD: STEPS, GEMM: 2 * STEPS, ROTATE: STEPS})
        self.assertEqual(BY_ITSELF + inside, self.measured_of(STEPS))

    def test_what_is_in_no_graph_is_replayed_where_no_framework_is(self):
        self.profile_unharmed(f"graphs:{STEPS}", metrics=ONE_PASS)
        names = collections.defaultdict(set)
        for row in self.capture().rows:
            names[row["Replay Mode"]].add(row["Kernel Name"])
        self.assertEqual({"kernel": {NVJET, ADD}, "iteration": {NVJET, ADD, GEMM, ROTATE}}, names)

    def test_all_passes_come_from_launches_of_a_graph(self):
        self.profile_unharmed(*("graphs:40", "sleep:100") * 2, options=[ITERATION, "--samples=1"])
        of_graph = [row for row in self.capture().rows if row["Kernel Name"] == GEMM]
        self.assertTrue(of_graph)
        for row in of_graph:
            self.assertEqual(PASSES, row["Passes"])
            self.assert_recorded_values(row)

    def test_measured_kernels_stay_with_their_op(self):
        self.profile_unharmed("graphs:6", options=[ITERATION, "--samples=all"], metrics=ONE_PASS)
        found = {tuple(row) for row in self.rows("SELECT op_name, direction, op_type FROM kernels WHERE in_graph")}
        self.assertEqual(set(FORWARD) | set(BACKWARD), found)
        self.assertGreater(
            self.rows("SELECT count(gpu_ns) FROM kernels WHERE in_graph")[0][0], 0, "their counters give them times"
        )
        calls = dict(self.rows("SELECT op_type, sum(calls) FROM detail WHERE op_name LIKE '/step/Graphed/%' GROUP BY 1"))
        self.assertEqual(calls["aten::addmm"], 2 * calls["aten::gelu"])

    def grids(self, step):
        self.profile_unharmed(step, options=[ITERATION, "--samples=1"])
        return {(row["Kernel Name"], row["Grid Size"]) for row in self.capture().rows}

    def test_what_a_graph_is_set_to_once_all_was_measured(self):
        grown = {(GEMM, f"({4 + i}, 1, 1)") for i in range(4)}
        self.assertEqual(grown | {(ROTATE, "(4, 1, 1)")}, self.grids("growing_graph:8"))

    def test_a_graph_that_was_set_otherwise_meanwhile_is_left_whole(self):
        self.assertEqual({(GEMM, "(4, 1, 1)"), (ROTATE, "(4, 1, 1)")}, self.grids("growing_set_graph:8"))

    def updated(self, **more):
        self.profile_unharmed(f"updated_graph:{STEPS}", options=[ITERATION, "--samples=all", "--force"], metrics=ONE_PASS, **more)
        return self.measured()

    def test_what_the_program_sets_of_a_graph_is_followed(self):
        self.assertEqual({ADD: STEPS, ROTATE: STEPS, GEMM: STEPS}, self.updated())
        grids = collections.Counter((row["Kernel Name"], row["Grid Size"]) for row in self.capture().rows)
        self.assertEqual(grids[ADD, "(8, 1, 1)"], STEPS // 3)
        self.assertEqual(grids[GEMM, "(8, 1, 1)"], STEPS // 2)

    def test_a_graph_whose_changes_cannot_be_followed_runs_whole_from_then_on(self):
        for call in ("cuGraphNodeFindInClone", "cuGraphKernelNodeSetParams_v2", "cuGraphKernelNodeGetParams_v2", "cuGraphClone"):
            for which in range(2, 6):
                with self.subTest(call=call, which=which):
                    measured = self.updated(env={"FAKE_CUDA_FAIL": f"{call}=1@{which}"})
                    if call == "cuGraphNodeFindInClone":
                        self.assertEqual(measured[ADD], 1 + (which - 1) // 4)
                        self.assertIn(
                            "1 graph: the program updates it in a way that could not be followed", self.notices("detail")
                        )

    def test_a_driver_that_keeps_the_arguments_is_left_alone(self):
        self.assertEqual(BY_ITSELF, self.measured_of(STEPS, env={"FAKE_KEEPS_ARGUMENTS": "1"}))
        self.assertIn("this driver does not let a launch be replaced", self.notices("detail"))

    def test_a_graph_of_which_a_part_fails_is_refused_and_never_run_twice(self):
        # The launch that fails is that of a node; what CUDA then says to the program is an error, and no wrong result.
        for which in ("@1", "@3"):
            with self.subTest(which=which):
                done = self.profile("graphs:4", "exit:5", options=[ITERATION, "--force"], metrics=ONE_PASS,
                                    env={"FAKE_CUDA_FAIL": f"cuLaunchKernelEx=701{which}"})  # fmt: skip
                alone = self.unprofiled("graphs:4", "exit:5")
                if which == "@1":
                    self.assertEqual((alone.code, alone.stdout), (done.code, done.stdout), done.stderr)
                else:
                    self.assertNotEqual(alone.code, done.code)

    def test_where_reading_a_graph_fails_it_runs_whole(self):
        calls = ("cuGraphClone", "cuGraphGetNodes", "cuGraphGetEdges_v2", "cuGraphNodeGetType", "cuGraphKernelNodeGetParams_v2",
                 "cuGraphChildGraphNodeGetGraph", "cuGraphAddMemsetNode", "cuGraphCreate", "cuGraphInstantiateWithFlags", "cuGraphLaunch",
                 "cuMemAlloc_v2", "cuMemcpyDtoH_v2", "cuCtxSynchronize", "cuStreamIsCapturing", "cuDevicePrimaryCtxGetState")  # fmt: skip
        for call in calls:
            for which in ("@1", "@2", ""):
                with self.subTest(call=call, which=which):
                    self.profile_unharmed("graphs:4", options=[ITERATION, "--force"], metrics=ONE_PASS,
                                          env={"FAKE_CUDA_FAIL": f"{call}=1{which}"})  # fmt: skip

    def test_graphs_that_kernels_may_launch_leave_all_whole(self):
        self.profile_unharmed("graphs:4", options=[ITERATION], metrics=ONE_PASS, env={"FAKE_GRAPHS_FOR_GPU": "1"})
        self.assertNotIn(GEMM, self.measured())
        self.assertIn("kernels of the program launch graphs", self.notices("detail"))

    def test_graphs_of_threads_side_by_side(self):
        self.profile_unharmed("captures:4:8", options=[ITERATION, "--samples=all"], metrics=ONE_PASS)
        self.assertEqual({ADD}, set(self.measured()))
        self.assertGreaterEqual(self.measured()[ADD], 4 * 20)

    def test_graphs_are_left_whole_where_windows_do_not_want_them(self):
        whole = self.launches("--replay-mode=none")
        self.assertGreater(self.launches(ITERATION), whole)
        for options in (("--replay-mode=kernel",), ("--launch-skip=3",), (ITERATION, "--launch-skip=3"),
                        (ITERATION, "--profile-from-start=off")):  # fmt: skip
            with self.subTest(options=options):
                self.assertEqual(whole, self.launches(*options))
        # What the kernels of a graph are is known once they were launched by themselves; those of the backward graph change once.
        self.assertEqual(whole + len(FORWARD) + 2 * len(BACKWARD), self.launches(ITERATION, "--kernel-id=::regex:none:"))
