"""Each part's verdicts, with stand-ins for the profilers: what is wrong must not pass."""

import contextlib
import csv
import io
import os
from pathlib import Path
from unittest import mock

import accuracy_report
import gpu_tests
import part_accuracy
import part_endurance
import part_hit_rates
import part_identical
import part_robust
import part_sampling
import part_selection
import part_shapes
import tools
from deviation import EXACT, PRINTED, RELATIVE, Rule
from figures_test import launch
from harness import FAIL, SKIP, CheckFailed, Skipped
from launch_tables import join, parse_launches
from made_up_tables import OUR_CSV
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
