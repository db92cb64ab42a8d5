"""Each part's verdicts, with stand-ins for the profilers: what is wrong must not pass."""

import contextlib
import csv
import io
import os
import sqlite3
import sys
from pathlib import Path
from unittest import mock

import accuracy_report
import every_launch
import gpu_tests
import iteration_table
import one_pass
import part_accuracy
import part_application
import part_cost
import part_endurance
import part_hit_rates
import part_identical
import part_instructions
import part_iteration
import part_jax
import part_nccl
import part_overhead
import part_quick
import part_robust
import part_sampling
import part_selection
import part_shapes
import part_speed
import part_sweep
import tools
import training_loops
from deviation import EXACT, PRINTED, RELATIVE, Rule
from figures_test import launch
from harness import FAIL, SKIP, CheckFailed, Skipped
from launch_tables import join, parse_launches
from made_up_tables import OUR_CSV
from side_by_side import Times, interval
from stand_ins import GOOD_DLKPROF, InFolder


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


class IdenticalTest(InFolder):
    def compare(self, dlkprof, least=1):
        bench = self.bench(dlkprof)
        case = part_identical.Case("case", ("sh", "-c", "echo result; exit 0"), (), least)
        return part_identical.compare(bench, case, part_identical.run_alone(bench, [case]))

    def test_same(self):
        self.assertIn("2 launches measured", self.compare(GOOD_DLKPROF))

    def test_more_output_fails(self):
        with self.assertRaisesRegex(CheckFailed, "stdout differs"):
            self.compare(GOOD_DLKPROF.replace("sys.exit(subprocess", "print('hello', flush=True)\nsys.exit(subprocess"))

    def test_another_exit_code_fails(self):
        with self.assertRaisesRegex(CheckFailed, "exit code 1"):
            self.compare(GOOD_DLKPROF.replace("sys.exit(subprocess", "sys.exit(1 + subprocess"))

    def test_nothing_measured_fails(self):
        with self.assertRaisesRegex(CheckFailed, "2 launches measured of 3"):
            self.compare(GOOD_DLKPROF, least=3)

    def test_program_that_fails_alone_is_no_pass(self):
        bench = self.bench(GOOD_DLKPROF)
        case = part_identical.Case("case", ("sh", "-c", "exit 1"))
        with self.assertRaises(CheckFailed):
            part_identical.compare(bench, case, part_identical.run_alone(bench, [case]))


class EnduranceTest(InFolder):
    # Holds 30 MB more for each 2,000 iterations; under a dlkprof that leaks, much more.
    HOLD = "import os, sys\nheld = bytearray(int(sys.argv[2]) * 15000 * (8 if 'LEAK' in os.environ else 1))\n"

    def grow(self, dlkprof):
        bench = self.bench(dlkprof)
        program = self.script("hold", self.HOLD)
        with mock.patch.object(type(bench), "cifar10", lambda _, *words: [program, words[1], words[3]]), mock.patch.object(
            part_endurance, "MODES", ("iteration",)
        ):
            part_endurance.growth(bench)
        return self.statuses()["--replay-mode iteration: 10,000 iterations of cifar10.py batch 4"]

    def test_growth_of_the_program_itself_is_not_ours(self):
        self.assertEqual("pass", self.grow(GOOD_DLKPROF)[0])

    def test_growth_of_ours_fails(self):
        status, words = self.grow("import os\nos.environ['LEAK'] = '1'\n" + GOOD_DLKPROF)
        self.assertEqual(FAIL, status)
        self.assertRegex(words, r"\+\d+ MB more at most")

    def test_steps_after_detaching(self):
        done = lambda ms: mock.Mock(stderr=f"samples_per_second 1.0 median_step_ms {ms} timed_steps 9")  # noqa: E731
        self.assertEqual(2.5, tools.median_step_ms(done(2.5)))
        with self.assertRaisesRegex(CheckFailed, "no step time"):
            tools.median_step_ms(mock.Mock(stderr="hello"))

    def test_instructions_of_other_shapes(self):
        of = lambda number, count: launch("k", ID=number, **{part_shapes.INSTRUCTIONS: count})  # noqa: E731
        ours = [of("3", "100"), of("4", "120")]
        self.assertIn("in 2 of 2", part_shapes.same_instructions(ours, [of("4", "120"), of("3", "100")]))
        with self.assertRaisesRegex(CheckFailed, "in 1 of 2"):
            part_shapes.same_instructions(ours, [of("3", "100"), of("4", "121")])
        with self.assertRaisesRegex(CheckFailed, "no launch"):
            part_shapes.same_instructions(ours, [of("5", "100")])


class SamplingTest(InFolder):
    SHARE = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"

    def sampled(self, value, samples=100):
        return part_sampling.sampled_shares(
            rows_of(
                "Level,Kernel Name,Metric,Value,# Samples\n"
                f"op,,{self.SHARE},1,500\nkernel,gemm,{self.SHARE},{value},{samples}\n"
                f"kernel,gemm,dram__bytes.sum,5,{samples}\n"
            )
        )

    def measured(self, *values):
        rows = "".join(f"{config},gemm,{self.SHARE},{value}\n" for config, value in enumerate(values))
        return part_sampling.measured_shares(rows_of(f"Config,Kernel Name,Metric,Mean\n{rows}"))

    def test_near(self):
        self.assertIn("1 shares of peak of 1 kernels", part_sampling.compare(self.sampled(50), self.measured(54.9)))

    def test_far_fails(self):
        with self.assertRaisesRegex(CheckFailed, "1 beyond 5; .* of gemm 55.1 %, sampled 50.0"):
            part_sampling.compare(self.sampled(50), self.measured(55.1))

    def test_few_samples_and_several_configurations_are_left_out(self):
        for sampled, measured in ((self.sampled(50, 99), self.measured(50)), (self.sampled(50), self.measured(50, 50))):
            with self.assertRaisesRegex(CheckFailed, "no kernel"):
                part_sampling.compare(sampled, measured)

    def test_steps_with_bursts(self):
        alone = part_sampling.Stretch([70.0] * 100)

        def sampled(step, burst):
            return part_sampling.Stretch(([step] * 19 + [burst]) * 5)

        words = part_sampling.bursts_verdict([(alone, sampled(70.0, 91.0))] * 3)
        self.assertIn("sampled beside alone: 1.0150 (1.0150 to 1.0150); median steps, most without a burst, 1.0000", words)
        for slow in (sampled(69.0, 100.0), sampled(71.5, 71.5)):  # bursts that cost much, and steps that are all slower
            with self.assertRaisesRegex(CheckFailed, "limit 1.02"):
                part_sampling.bursts_verdict([(alone, slow)] * 3)
        with self.assertRaises(Skipped):
            part_sampling.bursts_verdict([(alone, part_sampling.Stretch([70.0] * 99))])


class SelectionTest(InFolder):
    CSV = (
        'ID,Kernel Name,Grid Size,Block Size,smsp__inst_executed.sum\n'
        '0,alpha,"(64, 1, 1)","(64, 1, 1)",100\n1,alpha,"(64, 1, 1)","(64, 1, 1)",{}\n'
    )

    def compare(self, ncu_count, our_count):
        report = GOOD_DLKPROF.replace(repr(OUR_CSV), repr(self.CSV.format(our_count)))
        bench = self.bench(report, f"print({self.CSV.format(ncu_count)!r})")
        return part_selection.compare(bench, "one", ("-c", "2"), ["true"])

    def test_same(self):
        self.assertEqual(self.compare(200, "200.0"), "2 launches, the same")

    def test_another_launch_of_the_same_kernel_differs(self):
        with self.assertRaisesRegex(CheckFailed, "only ncu: 1"):
            self.compare(200, 300)

    def test_picking_nothing_is_the_same_only_where_nothing_is_asked_for(self):
        bench = self.bench(GOOD_DLKPROF.replace(repr(OUR_CSV), "''"), "print('==WARNING== No kernels were profiled.')")
        self.assertIn("0 launches", part_selection.compare(bench, "none", part_selection.NOTHING, ["true"]))
        with self.assertRaisesRegex(CheckFailed, "does not fit"):
            part_selection.compare(bench, "none", (), ["true"])

    def test_skipped_without_counters(self):
        part_selection.run(self.bench(GOOD_DLKPROF))
        self.assertEqual([row.status for row in self.board.rows], [SKIP])
        self.assertIn("no counters here", self.board.rows[0].detail)


class RobustTest(InFolder):
    def refused(self, code, stderr, codes=(2,), pattern="wrong"):
        done = self.commands.run("refused", ["sh", "-c", f"printf '{stderr}' >&2; exit {code}"])
        return part_robust.check_refused(done, codes, pattern)

    def test_refused(self):
        self.assertIn("2: dlkprof: wrong", self.refused(2, "dlkprof: wrong\\n  do this\\n"))

    def test_what_is_no_proper_refusal(self):
        improper = ((1, "dlkprof: wrong\\n"), (2, "wrong\\n"), (2, "dlkprof: wrong\\ndlkprof: again\\n"), (2, "dlkprof: no\\n"))
        for code, stderr in improper:
            with self.assertRaises(CheckFailed):
                self.refused(code, stderr)

    def test_program_started_all_the_same(self):
        starter = part_robust.Starter(self.folder / "trace")
        done = self.commands.run("started", ["sh", "-c", f"touch {starter.trace}; echo 'dlkprof: wrong' >&2; exit 2"])
        with self.assertRaisesRegex(CheckFailed, "started all the same"):
            part_robust.check_refused(done, (2,), "wrong", starter)

    def test_end_needs_every_launch_and_one_message(self):
        bench = self.bench(GOOD_DLKPROF)
        done = self.commands.run("end", ["sh", "-c", "echo 'dlkprof: ended by signal 9' >&2; exit 137"])
        with self.assertRaisesRegex(CheckFailed, "2 launches readable afterwards, expected 3"):
            part_robust.check_end(bench, done, "end", 137, "signal", exact=True)
        bench = self.bench(GOOD_DLKPROF.replace(repr(OUR_CSV), repr(OUR_CSV + OUR_CSV.splitlines()[1] + "\r\n")))
        self.assertIn("3 launches", part_robust.check_end(bench, done, "end", 137, "signal", exact=True))
        with self.assertRaisesRegex(CheckFailed, "0 messages"):
            part_robust.check_end(bench, done, "end", 137, "SIGSEGV", exact=True)

    def test_filler_leaves_room(self):
        try:
            with part_robust.small_disk(self.folder / "disk", "size=1m") as disk:
                part_robust.fill(disk, 12 * 1024)
                free = os.statvfs(disk)
        except Skipped as reason:
            self.skipTest(str(reason))
        self.assertEqual(free.f_bavail * free.f_bsize, 12 * 1024)


class AccuracyTest(InFolder):
    def test_left_alone_launches_are_no_failure_and_others_are(self):
        joined = join([launch("a"), launch("graph_kernel")], [launch("a")])
        self.assertEqual(part_accuracy.account(joined), "1 of ncu's 2 launches joined, 1 left alone on purpose")
        with self.assertRaisesRegex(CheckFailed, "only ncu: \\['b'\\]"):
            part_accuracy.account(join([launch("a"), launch("b")], [launch("a")]))

    def test_page_and_rows(self):
        bench = self.bench(GOOD_DLKPROF)
        bench.facts = [("GPU", "H200")]
        rules = [Rule("exact", EXACT), Rule("share", RELATIVE, 5, near_zero=2), Rule("absent", PRINTED)]
        pairs = [
            (launch("k", 0, exact="7", share="50", absent="1"), launch("k", 0, exact="7", share="60")),
            (launch("k", 1, exact="7", share="1"), launch("k", 1, exact="8", share="1.1")),
        ]
        figures = part_accuracy.Figures()
        part_accuracy.take(pairs, part_accuracy.Program("p", []), rules, figures)
        part_accuracy.take_again([(pairs[0][0], pairs[0][0])], part_accuracy.Program("p", []), rules, figures)
        part_accuracy.conclude(bench, rules, figures)
        statuses = self.statuses()
        self.assertEqual([statuses[name][0] for name in ("exact", "share", "absent")], [FAIL, FAIL, FAIL])
        self.assertIn("median 20 % (limit 5)", statuses["share"][1])
        self.assertIn("near zero: n 1", statuses["share"][1])
        page = (self.folder / "accuracy.md").read_text()
        self.assertIn("| `share` | % | 1 | 20 | 20 | 20 | 5 | FAIL | 0 | 0 |", page)
        self.assertIn("| p | 1 | `k` | `exact` | 7 | 8 | 1 |", page)
        self.assertIn("| p | 0 | `k` | `share` | 50 | 60 | 20 % | 0 % |", page)
        self.assertIn("| GPU | H200 |", page)

    def test_ncu_is_compared_with_itself_under_its_own_names(self):
        figures = part_accuracy.Figures()
        rules = [Rule("launch__limit", PRINTED, columns=("block_limit",))]
        pair = (launch("k", launch__limit="3"), launch("k", launch__limit="4"))
        part_accuracy.take_again([pair], part_accuracy.Program("p", []), rules, figures)
        self.assertEqual([d.value for d in figures.against_self], [1])

    def test_command_lines_name_no_folders(self):
        self.assertEqual(accuracy_report.shown(["/opt/x/bin/ncu", "-c", "1", Path("/tmp/copy")]), "ncu -c 1 copy")

    def test_integers_are_shown_whole(self):
        self.assertEqual(accuracy_report.number(12345678.0), "12345678")
        self.assertEqual(accuracy_report.number(1.23456), "1.235")

    def test_unknown_ncu_metrics_are_dropped(self):
        ncu = """
            import sys
            if "no__such" in " ".join(sys.argv):
                sys.exit("==ERROR== Failed to find metric no__such")
            print('ID,Kernel Name,Grid Size,Block Size,known,odd\\n0,k,1,1,5,n/a')
        """
        self.assertEqual(self.bench(GOOD_DLKPROF, ncu).ncu.offered(["known", "no__such", "odd"], ["true"]), ["known"])


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


class IterationTest(InFolder):
    def launches(self, instructions, nanoseconds, number="7"):
        columns = {"smsp__inst_executed.sum": str(instructions), "gpu__time_duration.sum": str(nanoseconds)}
        return [launch("kernel", ID=number, **columns)]

    def verdict(self, ours, reference):
        return iteration_table.Table(iteration_table.matched_by_number(ours, reference)).verdict()

    def test_near(self):
        words = self.verdict(self.launches(1000, 21000), self.launches(1000, 20000))
        self.assertIn("instructions equal in 1 of 1 comparisons", words)
        self.assertIn("gpu__time_duration.sum 5.00 % and 5.00 %", words)

    def test_far_fails(self):
        with self.assertRaisesRegex(CheckFailed, "at most 2.000 % apart"):
            self.verdict(self.launches(1020, 20000), self.launches(1000, 20000))
        numbers = "123456"
        ours, theirs = ([one for number in numbers for one in self.launches(1000, ns, number)] for ns in (21200, 20000))
        with self.assertRaisesRegex(CheckFailed, "beyond 5 and 15 %: gpu__time_duration.sum 6.00 % and 6.00 %"):
            self.verdict(ours, theirs)

    def test_few_launches_count_with_all_others_alone(self):
        def measured(rare):
            columns = {"smsp__inst_executed.sum": "7", "gpu__time_duration.sum": "20000"}
            return [
                launch("kernel", ID=str(number), **columns, **{"a__rare.sum": rare if number == 1 else "0"})
                for number in range(1, 21)
            ]

        ours, theirs = measured("300"), measured("200")
        self.assertIn("of fewer than 5 launches: a__rare.sum 50.00 % and 50.00 %;", self.verdict(ours, theirs))
        with self.assertRaisesRegex(CheckFailed, "figures of all metrics 6.00 % and 6.00 %"):
            self.verdict(self.launches(1000, 21200), self.launches(1000, 20000))

    def test_what_the_reference_does_not_repeat_is_not_judged_by_itself(self):
        def measured(wait):
            columns = {f"a__metric_{number}.sum": "7" for number in range(20)}
            return [
                launch(
                    "kernel",
                    ID=str(number),
                    **{**columns, "smsp__inst_executed.sum": "7", "gpu__time_duration.sum": "20000", "a__wait.sum": wait},
                )
                for number in range(5)
            ]

        def verdict(again):
            ours, first, second = (measured(wait) for wait in ("150", "100", again))
            control = iteration_table.Table(iteration_table.matched_by_number(second, first))
            return iteration_table.Table(iteration_table.matched_by_number(ours, first), control=control).verdict()

        self.assertIn(
            "does not repeat them: a__wait.sum 50.00 % and 50.00 % (by itself, twice: 40.00 % and 40.00 %)", verdict("60")
        )
        with self.assertRaisesRegex(
            CheckFailed, r"beyond 5 and 15 %: a__wait.sum 50.00 % and 50.00 % \(by itself, twice: 20.00 % and 20.00 %\)"
        ):
            verdict("80")  # not nearly as far
        with self.assertRaisesRegex(
            CheckFailed, r"beyond 5 and 15 %: a__wait.sum 50.00 % and 50.00 % \(by itself, twice: 4.00 % and 4.00 %\)"
        ):
            verdict("104")

    def test_others_launches_fail(self):
        with self.assertRaisesRegex(CheckFailed, "no launch"):
            self.verdict(self.launches(1000, 1, "8"), self.launches(1000, 1))
        with self.assertRaisesRegex(CheckFailed, "not numbered alike"):
            self.verdict([launch("other", ID="7")], self.launches(1000, 1))

    def test_metrics_that_are_missing_fail(self):
        with self.assertRaisesRegex(CheckFailed, "not measured in some: gpu__time_duration.sum"):
            self.verdict(self.launches(1000, ""), self.launches(1000, 20000))

    def test_other_caches_are_left_out(self):
        def hits(number, per_cent):
            return launch("kernel", ID=number, **{part_iteration.L2_HITS: per_cent})

        alike = part_iteration.with_caches_alike([(hits("1", "50"), hits("1", "55")), (hits("2", "50"), hits("2", "56"))])
        self.assertEqual([ours.text("ID") for ours, _ in alike], ["1"])

    def test_runs_of_groups_of_metrics_are_merged(self):
        runs = [
            [launch("kernel", ID=number, **{metric: number}) for number in numbers]
            for metric, numbers in (("a__b.sum", "12"), ("c__d.sum", "21"), ("e__f.sum", "2"))
        ]
        (whole,) = part_iteration.merged(runs)
        self.assertEqual([whole.text(name) for name in ("ID", "a__b.sum", "c__d.sum", "e__f.sum")], ["2"] * 4)
        with self.assertRaisesRegex(CheckFailed, "not numbered alike"):
            part_iteration.merged([*runs, [launch("other", ID="2")]])

    def test_groups_of_one_pass(self):
        program = self.script(
            "dlkprof",
            """
            import sys
            metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
            alone = [3 if metric.startswith("wide") else 1 for metric in metrics]
            print("Chip        GH100")
            print("Metrics    ", len(metrics), "in", max(1, sum(alone) - 1), "passes")
            for metric, number in zip(metrics, alone):
                print(metric, " sm  by monitors ", number)
        """,
        )
        groups, several = one_pass.groups_of(program, ["a__b.sum", "wide__c.sum", "d__e.sum", "f__g.sum"])
        self.assertEqual((groups, several), ([["a__b.sum", "d__e.sum"], ["f__g.sum"]], ["wide__c.sum"]))
        with self.assertRaisesRegex(CheckFailed, "ended with 2: no"):
            one_pass.groups_of(self.script("dlkprof", "import sys; sys.stderr.write('no'); sys.exit(2)"), ["a__b.sum"])

    def test_the_same_launches_are_asked_for(self):
        asked = part_iteration.same_launches(self.launches(1, 1, "9") + self.launches(1, 1, "5"))
        self.assertEqual(asked[:4], ("--launch-skip-before-match", "5", "-c", "5"))

    def test_configurations_are_matched_with_the_mean_of_ncu(self):
        ncu = """
            print('ID,Kernel Name,Grid Size,Block Size,smsp__inst_executed.sum')
            for number, executed in enumerate((4, 6, 5)):
                print(f'{number},kernel,"(1, 1, 1)","(32, 1, 1)",{executed}')
            """
        key = ("kernel", 1, 1, 1, 32, 1, 1)
        ours = {key: {"smsp__inst_executed.sum": 5.0}, ("other", *key[1:]): {"smsp__inst_executed.sum": 7.0}}
        pairs, left_out = part_application.matched_with_ncu(self.bench(GOOD_DLKPROF, ncu), ours)
        self.assertEqual(0, left_out)
        self.assertEqual(
            [
                (ours.key, ours.number("smsp__inst_executed.sum"), theirs.number("smsp__inst_executed.sum"))
                for ours, theirs in pairs
            ],
            [(key, 5.0, 5.0)],
        )
        # What one configuration has of metrics and the other lacks leaves that one out.
        ours["other", *key[1:]]["a__b.sum"] = 1.0
        self.assertEqual(([], 1), part_application.matched_with_ncu(self.bench(GOOD_DLKPROF, ncu), ours))

    def test_table(self):
        one = iteration_table.Table([(self.launches(1000, 23200)[0], self.launches(1000, 20000)[0])])
        page = iteration_table.markdown({"kernel replay": one})
        self.assertIn("| `gpu__time_duration.sum` | 1 | 16.00 % and 16.00 % (far) |  |", page)

    def test_near_zero_is_in_points(self):
        def written(number):
            return launch(
                "kernel", **{"gpu__time_duration.sum": "20000", "lts__t_bytes.sum": "1000", "dram__bytes_write.sum": number}
            )

        table = iteration_table.Table([(written("30"), written("19")), (written("30"), written("20"))])
        self.assertEqual(table.rows["dram__bytes_write.sum"], [0.5])
        self.assertEqual(table.near_zero["dram__bytes_write.sum"], [1.1])
        self.assertIn(
            "| `dram__bytes_write.sum` | 1 | 50.00 % and 50.00 % (far) | 1, at most 1.10 points |",
            iteration_table.markdown({"kernel replay": table}),
        )

    def test_percentiles(self):
        self.assertEqual([iteration_table.percentile(range(1, 11), share) for share in (1, 50, 90, 100)], [1, 5, 9, 10])


class InstructionsTest(InFolder):
    def setUp(self):
        super().setUp()
        least = mock.patch.object(part_instructions, "LEAST", 1)
        least.start()
        self.addCleanup(least.stop)

    def of(self, number, count, kernel="k"):
        return launch(kernel, ID=number, **{iteration_table.INSTRUCTIONS: count})

    def test_few_launches_fail(self):
        with mock.patch.object(part_instructions, "LEAST", 2), self.assertRaisesRegex(
            CheckFailed, "1 of 1 launches .* not of 2 at least"
        ):
            part_instructions.verdict([self.of("3", "100")], [self.of("3", "100")], set())

    def test_equal(self):
        ours = [self.of("3", "100"), self.of("4", "120")]
        words = part_instructions.verdict(ours, [self.of("4", "120"), self.of("3", "100")], set())
        self.assertIn("in 2 of 2 launches of 1 kernels; 0 launches left out", words)

    def test_one_more_fails(self):
        with self.assertRaisesRegex(CheckFailed, "in 1 of 2 .*k: 121, 120 replayed"):
            part_instructions.verdict(
                [self.of("3", "100"), self.of("4", "121")], [self.of("4", "120"), self.of("3", "100")], set()
            )
        with self.assertRaisesRegex(CheckFailed, "in 0 of 1"):
            part_instructions.verdict([self.of("3", "")], [self.of("3", "100")], set())

    def test_what_kernel_replay_does_not_repeat_is_left_out(self):
        first = [self.of("3", "100"), self.of("4", "7", "spin"), self.of("5", "8", "spin")]
        left_out = part_instructions.unrepeatable(
            first, [self.of("3", "100"), self.of("4", "9", "spin"), self.of("5", "8", "spin")]
        )
        self.assertEqual(left_out, {first[1].mangled})
        words = part_instructions.verdict([self.of("3", "100"), self.of("5", "1", "spin")], first, left_out)
        self.assertIn("in 1 of 1 launches of 1 kernels; 1 launches left out, of 1 kernels", words)
        with self.assertRaisesRegex(CheckFailed, "not of 1 at least"):
            part_instructions.verdict([self.of("5", "8", "spin")], first, left_out)


class JaxTest(InFolder):
    DLKPROF = """
        import subprocess, sys
        if sys.argv[1] != "report":
            sys.exit(subprocess.call(sys.argv[sys.argv.index("--") + 1:]))
        print({sampling!r} if "sampling" in sys.argv else "Kernel Name\\ngemm")
    """

    def profile(self, sampling, options=part_jax.SAMPLED, program="echo 1"):
        bench = self.bench(self.DLKPROF.format(sampling=sampling))
        alone = self.commands.run("alone", ["sh", "-c", "echo 1"])
        return part_jax.profile(bench, "sample, in bursts", options, ["sh", "-c", program], alone)

    def test_sampled(self):
        self.assertIn("1 rows of kernels; 1 have samples", self.profile("Level,Kernel Name\nkernel,gemm\nop,"))
        with self.assertRaisesRegex(CheckFailed, "nothing was sampled"):
            self.profile("Level,Kernel Name\nop,")
        self.assertIn("1 rows of kernels", self.profile("", part_jax.WAYS["none"]))

    def test_another_output_fails(self):
        with self.assertRaisesRegex(CheckFailed, "stdout differs"):
            self.profile("", program="echo 2")


class SweepTest(InFolder):
    DLKPROF = """
        import pathlib, sys
        words = sys.argv
        folder = pathlib.Path(words[words.index("--output_path") + 1])
        for size in words[words.index("batch_size") + 1].split(",")[:{databases}]:
            for name in ("_dldb.sqlite", ".dlkcap"):
                file = folder / f"sweep_batch_size-{{size}}{{name}}"
                if not ({keeps} and "--resume" in words and file.exists()):
                    file.unlink(missing_ok=True)
                    file.write_text("")
        (folder / "sweep_compare.json").write_text({comparison!r})
    """

    def made(self, databases=2, comparison='{"runs": 2}', keeps=True):
        return self.bench(self.DLKPROF.format(databases=databases, comparison=comparison, keeps=keeps))

    def compared(self, **how):
        bench = self.made(**how)
        return part_sweep.compared(bench, part_sweep.sweep(bench, "sweep"))

    def test_runs_that_are_made_again_fail(self):
        for keeps in (True, False):
            bench = self.made(keeps=keeps)
            part_sweep.sweep(bench, "sweep")
            if keeps:
                self.assertIn("2 captures as they were", part_sweep.resumed(bench))
            else:
                with self.assertRaisesRegex(CheckFailed, "made again"):
                    part_sweep.resumed(bench)

    def test_what_a_sweep_leaves(self):
        self.assertIn("2 databases", self.compared())

    def test_a_database_that_is_missing_fails(self):
        with self.assertRaisesRegex(CheckFailed, "databases: .*-4_dldb"):
            self.compared(databases=1)

    def test_an_empty_comparison_fails(self):
        with self.assertRaisesRegex(CheckFailed, "empty"):
            self.compared(comparison="{}")


class HitRatesTest(InFolder):
    NCU = """import sys
metric = sys.argv[sys.argv.index('--metrics') + 1]
print('"ID","Kernel Name","Grid Size","Block Size","profiler__replayer_passes","' + metric + '"')
print('"","","","","",""')
print('"0","k","1","1","PASSES",' + ('"30"' if metric.endswith('_hit.sum') else '"10"'))
"""

    def apart(self, passes="1"):
        hits, misses = (
            f'ID,Kernel Name,Grid Size,Block Size,Passes,lts__t_sectors_lookup_{what}.sum\n0,k,1,1,1,{count}\n'
            for what, count in (("hit", 40), ("miss", 10))
        )
        bench = self.bench(GOOD_DLKPROF, self.NCU.replace("PASSES", passes))
        with mock.patch.object(
            bench.dlkprof, "written_launches", side_effect=lambda name: parse_launches(hits if "hit" in name[9:] else misses)
        ):
            return part_hit_rates.measure(bench, part_accuracy.Program("p", ["true"]))

    def test_rates_of_both_tools(self):
        self.assertEqual([5.0], self.apart())  # 80 and 75 %
        with self.assertRaisesRegex(CheckFailed, "took 2 passes"):
            self.apart("2")

    def test_nothing_looked_up(self):
        self.assertIsNone(part_hit_rates.rate(0, 0))
        self.assertIsNone(part_hit_rates.rate(None, 1))

    def test_the_median_counts(self):
        self.assertIn("n 3, median 1.00 points, -1.00 to +60.00; 1 beyond 5", part_hit_rates.verdict([-1, 60, 0.5]))
        with self.assertRaisesRegex(CheckFailed, "limit 5"):
            part_hit_rates.verdict([6, 7, 0])


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
        self.assertIn(
            "4 launches of 1 configurations, 3 passes; 0.01 s in windows, 2.000 ms a launch",
            part_speed.our_words(self.made(12.0, launches=launches), self.made(10.0)),
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


class MainTest(InFolder):
    def test_usage(self):
        with contextlib.redirect_stderr(open(os.devnull, "w", encoding="utf-8")) as sink:
            self.assertEqual(gpu_tests.main([]), 2)
            self.assertEqual(gpu_tests.main(["a", "b", "no_such_part"]), 2)
            self.assertEqual(gpu_tests.main([str(self.folder), str(self.folder / "out")]), 2)
        sink.close()

    def test_results_are_written(self):
        bench = self.bench(GOOD_DLKPROF)
        self.board.skip("part", "case", "no GPU")
        with contextlib.redirect_stdout(open(os.devnull, "w", encoding="utf-8")) as sink:
            gpu_tests.write_results(bench, 1.0)
        sink.close()
        self.assertIn("| part | case | skip | no GPU |", (self.folder / "results.md").read_text())
        self.assertTrue((self.folder / "results.json").exists())
