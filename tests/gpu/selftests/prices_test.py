"""Verdicts of the parts on what profiling costs, and of several GPUs."""

import contextlib
import sqlite3
import sys
from unittest import mock

import every_launch
import part_cost
import part_nccl
import part_overhead
import part_quick
import part_speed
import training_loops
from figures_test import launch
from harness import SKIP, CheckFailed, Skipped
from launch_tables import parse_launches
from made_up_tables import OUR_CSV
from side_by_side import Times, interval
from stand_ins import GOOD_DLKPROF, InFolder


class CostTest(InFolder):
    def test_costing_more_than_ncu_fails(self):
        self.assertIn("0.50 of it", part_cost.against_ncu({"dlkprof": 0.1, "ncu": 0.2}))
        with self.assertRaises(CheckFailed):
            part_cost.against_ncu({"dlkprof": 0.3, "ncu": 0.2})
        with self.assertRaises(Skipped):
            part_cost.against_ncu({"dlkprof": 0.3})

    def test_costs_from_the_capture(self):
        words = part_cost.from_capture(self.bench(GOOD_DLKPROF.replace("subprocess.call", "(lambda program: 0)")), "copy", ["m"])
        self.assertIn("median 60 ms a launch", words)
        self.assertIn("median 20 ms a pass", words)


class SpeedTest(InFolder):
    def made(self, seconds, mebibytes=100, launches=()):
        return training_loops.Run(seconds, mebibytes << 20, list(launches), "samples_per_second 1000.0\n")

    def test_against_ncu(self):
        launches = [launch("kernel", cost_ns="2000000", passes="3")] * 4
        words = part_speed.against_ncu(self.made(12.0, launches=launches), self.made(10.0), 0.5)
        self.assertIn("ncu needs 2 s for as many launches (4): 250.0 times as long as windows", words)
        self.assertIn("1.0 times as long with start and end, which took 2.0 s", words)
        self.assertIn(
            "-0.5 s beside alone, which says nothing",
            part_speed.against_ncu(self.made(9.5, launches=launches), self.made(10.0), 0.5),
        )

    def test_memory_is_limited(self):
        self.assertIn("+300 MB", part_speed.memory_words(self.made(1, 400), self.made(1, 100)))
        with self.assertRaisesRegex(CheckFailed, "301 MB"):
            part_speed.memory_words(self.made(1, 401), self.made(1, 100))

    def test_peak_memory_of_a_program(self):
        program = [sys.executable, "-c", "held = b'x' * (64 << 20)"]
        done = training_loops.run_alone(self.bench(GOOD_DLKPROF), training_loops.Loop("loop", program, program, 1), program)
        self.assertGreater(done.peak_bytes, 64 << 20)
        with self.assertRaises(CheckFailed):
            training_loops.run_alone(
                self.bench(GOOD_DLKPROF), training_loops.Loop("loop", [], [], 1), [sys.executable, "-c", "exit(3)"]
            )

    def test_ncu_by_two_counts(self):
        table = '"ID","Kernel Name","Grid Size","Block Size","a__b","C__D"\n"","","","","",""\n"0","k","1","1","2",""\n'
        ncu = f"import sys, time; time.sleep(0.02 * int(sys.argv[sys.argv.index('-c') + 1])); print({table!r})"
        loop = training_loops.Loop("loop", ["true"], ["true"], 1)
        slope = training_loops.ncu_slope(self.bench(GOOD_DLKPROF, ncu), loop, "basic", ["a__b", "C__D", "e__f"], 35)
        self.assertTrue(0.005 < slope.seconds < 0.1, slope)
        self.assertEqual((3, 1), (slope.metrics, slope.given))
        with self.assertRaises(Skipped):
            training_loops.ncu_slope(self.bench(GOOD_DLKPROF, "print('==ERROR== no')"), loop, "quick", ["a__b"], 35)

    def steps(self, inside_us):
        """Windows of four launches, two a step."""
        launches = [
            every_launch.Measured(1000 * inside_us * number, 1000 * (60 + number // 4), number % 2) for number in range(12)
        ]
        loop = training_loops.Loop("loop", ["true"], ["true"], 1)
        with mock.patch.object(every_launch, "run_ours", return_value=self.made(2.0)), mock.patch.object(
            every_launch, "measured_launches", return_value=launches
        ):
            return every_launch.measure_every_launch(None, loop)

    def test_every_launch(self):
        self.assertIn("8 launches, 2 a step, in 2 windows: 61.5 us each", self.steps(30).words(self.made(1.0)))
        fast, slow, partial = (training_loops.Slope(seconds, 9, given) for seconds, given in ((0.015, 9), (0.05, 9), (0.05, 4)))
        words = part_quick.verdict(self.steps(30), 10.0, slow)
        self.assertIn("30.0 us a launch within windows (n 4, median 30.0, 30.0 to 30.0), 10.0 us alone: 20.0 us more", words)
        self.assertIn("ncu adds 2500 times that, and takes 1667 times as long as a launch within windows", words)
        with self.assertRaisesRegex(CheckFailed, "limit 40 us"):
            part_quick.verdict(self.steps(51), 10.0, slow)
        with self.assertRaisesRegex(CheckFailed, "limit 1000"):
            part_quick.verdict(self.steps(30), 10.0, fast)
        for ncu in (partial, None):
            with self.assertRaisesRegex(CheckFailed, "ncu did not measure all of it"):
                part_quick.verdict(self.steps(30), 10.0, ncu)

    def test_launches_from_a_database(self):
        bench = self.bench(GOOD_DLKPROF)
        with contextlib.closing(sqlite3.connect(bench.dlkprof.captures / "some_dldb.sqlite")) as database:
            database.execute("CREATE TABLE measured_launch (launch_index, start_unix_ns, cost_ns, config)")
            database.executemany("INSERT INTO measured_launch VALUES (?, ?, ?, ?)", [(7, 20, 5, 1), (6, 10, 5, 0), (9, 30, 6, 1)])
            database.commit()
        launches = every_launch.measured_launches(bench, "some")
        self.assertEqual(
            [[launch.start_unix_ns for launch in window] for window in every_launch.windows_of(launches)], [[10, 20], [30]]
        )

    def test_a_whole_step(self):
        loop, half = training_loops.Loop("loop", [], [], 1, 50.0), training_loops.Slope(0.5, 9, 9)
        ours = self.made(12.0, launches=[launch("kernel", cost_ns="1000000000")] * 4)
        words = part_speed.basic_verdict(loop, part_speed.Result(ours, half, 400), self.made(11.0))
        self.assertIn(
            "ncu takes 200 s for 400 launches; iteration replay measures their 1 configurations in 4.0 s: 50.0 times", words
        )
        with self.assertRaisesRegex(CheckFailed, "limit 50"):
            part_speed.basic_verdict(loop, part_speed.Result(ours, half, 400), self.made(7.0))
        with self.assertRaisesRegex(CheckFailed, "not measured"):
            part_speed.basic_verdict(loop, part_speed.Result(ours, None, 400), self.made(7.0))

    def test_launches_of_no_step(self):
        with self.assertRaisesRegex(CheckFailed, "do not repeat"):
            every_launch.launches_of_step(list(range(9)))

    def test_names_of_metrics_as_they_are_spelled(self):
        table = (
            'ID,Kernel Name,Grid Size,Block Size,Passes,dram__bytes_read.sum,TPC.TriageCompute.sm__cycles_active.avg,'
            'dram__bytes_read.sum (stddev),TPC.TriageCompute.sm__cycles_active.avg (stddev)\n0,k,1,1,1,2,3,0,0\n'
        )
        self.assertEqual(
            ["dram__bytes_read.sum", "TPC.TriageCompute.sm__cycles_active.avg"], training_loops.metrics_of(parse_launches(table))
        )

    def test_usual_names_of_metrics(self):
        names = part_quick.usual_names(["dram__bytes_read.sum", "TPC.TriageCompute.tpc__warps_active_realtime.avg"])
        self.assertEqual(names, ["dram__bytes_read.sum", "sm__warps_active.avg"])

    def test_skipped_without_pytorch(self):
        bench = self.bench(GOOD_DLKPROF)
        bench.__dict__["_torch"] = (None, "there is none")
        for part in (part_speed, part_quick):
            part.run(bench)
        self.assertEqual([(SKIP, "there is none")] * 2, [(row.status, row.detail) for row in self.board.rows])


class NcclTest(InFolder):
    # Two ranks, each with a capture; the program itself is only its output here.
    DLKPROF = """
        import pathlib, sys
        words = sys.argv
        if words[1] == "report":
            sys.stdout.write({table!r})
        else:
            folder, name = words[words.index("--output_path") + 1], words[words.index("--base_name") + 1]
            for rank in range({ranks}):
                pathlib.Path(folder, f"{{name}}_{{rank}}.dlkcap").write_text("")
            print("rank 1 weights 2\\nrank 0 weights 1")
    """

    def profile(self, collectives, table=OUR_CSV, ranks=2, alone="rank 0 weights 1\nrank 1 weights 2\n"):
        bench = self.bench(self.DLKPROF.format(table=table, ranks=ranks))
        done = self.commands.run("alone", ["printf", alone])
        return part_nccl.profile(bench, "iteration", "quick", collectives, done)

    def test_what_is_asked_for(self):
        nccl = OUR_CSV.replace("fill_kernel", "ncclFill")
        self.assertNotEqual(nccl, OUR_CSV)
        self.assertIn("of NCCL 0 and 0", self.profile(False))
        with self.assertRaisesRegex(CheckFailed, "of NCCL 0 and 0"):
            self.profile(True)
        with self.assertRaisesRegex(CheckFailed, "of NCCL [1-9]"):
            self.profile(False, nccl)
        self.assertRegex(self.profile(True, nccl), "of NCCL [1-9]")

    def test_what_is_missing(self):
        with self.assertRaisesRegex(CheckFailed, "1 captures of 2 ranks"):
            self.profile(False, ranks=1)
        with self.assertRaisesRegex(CheckFailed, "stdout differs"):
            self.profile(False, alone="rank 0 weights 1\nrank 1 weights 3\n")

    def test_one_rank_and_samples(self):
        done = self.commands.run("alone", ["printf", "rank 0 weights 1\nrank 1 weights 2\n"])
        one = self.bench(self.DLKPROF.format(table=OUR_CSV, ranks=1))
        self.assertIn("one capture, 2 launches measured", part_nccl.one_rank(one, done))
        both = self.bench(self.DLKPROF.format(table="Level,Kernel Name\nkernel,gemm\n", ranks=2))
        self.assertIn("1 and 1 kernels with samples", part_nccl.sampled(both, done))
        with self.assertRaisesRegex(CheckFailed, "2 captures of 1 ranks"):
            part_nccl.one_rank(both, done)
        with self.assertRaisesRegex(CheckFailed, "0 and 0 kernels"):
            part_nccl.sampled(self.bench(self.DLKPROF.format(table="Level,Kernel Name\n", ranks=2)), done)

    def test_ncu_that_hangs(self):
        bench = self.bench(GOOD_DLKPROF, "import time; time.sleep(60)")
        done = self.commands.run("alone", ["true"])
        with mock.patch.object(part_nccl, "LIMIT", 4):
            self.assertIn("without an end", part_nccl.ncu_words(bench, done))


class OverheadTest(InFolder):
    def test_verdict(self):
        def pairs(ratio, sets=4):
            return Times(512, [{"without": [1.0, 1.02] * 8, "attached": [ratio, ratio * 1.02] * 8} for _ in range(sets)])

        self.assertIn("median of 4 pairs of processes 1.0050", part_overhead.verdict(pairs(1.005), 1.01))
        self.assertIn("1.0200", part_overhead.verdict(pairs(1.02), None))
        with self.assertRaisesRegex(CheckFailed, "limit 1.01"):
            part_overhead.verdict(pairs(1.02), 1.01)
        with self.assertRaises(Skipped):
            part_overhead.verdict(pairs(1.0, 2), 1.01)

    def test_interval_of_the_median(self):
        # From tables of the sign test: ranks 4 and 13 of 16, 2 and 9 of 10.
        self.assertEqual(interval(range(1, 17)), (4, 13))
        self.assertEqual(interval(range(1, 11)), (2, 9))
        self.assertEqual(interval([3, 1, 2]), (1, 3))
