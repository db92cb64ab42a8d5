#!/usr/bin/env python3
"""Tests of the GPU tests' own logic, on made-up tables and stand-in programs; need no GPU."""

import contextlib
import os
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import accuracy_report
import gpu_tests
import launch_tables
import part_accuracy
import part_cost
import part_identical
import part_robust
import part_selection
from deviation import EXACT, POINTS, PRINTED, RELATIVE, Rule, compare, deviate, judge, summarize
from harness import FAIL, PASS, SKIP, CheckFailed, Commands, Scoreboard, Skipped, markdown_table, text_table
from launch_tables import Launch, as_number, join, parse_launches, plain_name
from tools import Bench, Dlkprof, Ncu

NCU_CSV = '''==PROF== Connected to process 41 (/tmp/copy)
checksum copy_kernel 00ff
==PROF== Disconnected from process 41
"ID","Process ID","Process Name","Kernel Name","Context","Stream","Block Size","Grid Size","gpu__time_duration.sum","launch__waves_per_multiprocessor","smsp__inst_executed.sum"
"","","","","","","","","ns","",""
"0","41","copy","fill_kernel","1","7","(256, 1, 1)","(64, 2, 1)","1,234.50","0.24","4,096"
"1","41","copy","_Z3fooIiEvT_, int","1","7","(32, 1, 1)","(1, 1, 1)","2,000","(!) n/a","17"
'''

OUR_CSV = ('ID,Process,Device,Kernel Name,Mangled Name,Grid Size,Block Size,Occurrence,Passes,cost_ns [ns],gpu__time_duration.sum,'
           'smsp__inst_executed.sum,grid_size,block_size,waves_per_sm\r\n'
           '4,41,0,fill_kernel,fill_kernel,"(64, 2, 1)","(256, 1, 1)",0,3,60000000,1296.225,4096,128,256,0.2424\r\n'
           '5,41,0,"foo<int>(int, int)","_Z3fooIiEvT_, int","(1, 1, 1)","(32, 1, 1)",0,3,60000000,,17,1,32,0.01\r\n')


def launch(name, position=0, grid=(1, 1, 1), **columns):
    return Launch(position, name, grid, (32, 1, 1), {plain_name(key): value for key, value in columns.items()})


class ParseTest(unittest.TestCase):
    def test_ncu_table_amid_other_output(self):
        launches = parse_launches(NCU_CSV)
        self.assertEqual([one.mangled for one in launches], ["fill_kernel", "_Z3fooIiEvT_, int"])
        self.assertEqual((launches[0].grid, launches[0].block), ((64, 2, 1), (256, 1, 1)))
        self.assertEqual(launches[0].number("gpu__time_duration.sum"), 1234.5)
        self.assertIsNone(launches[1].number("launch__waves_per_multiprocessor"))
        self.assertEqual([one.position for one in launches], [0, 1])

    def test_our_table(self):
        launches = parse_launches(OUR_CSV)
        self.assertEqual([one.key for one in launches], [one.key for one in parse_launches(NCU_CSV)])
        self.assertEqual(launches[0].number("cost_ns"), 6e7)
        self.assertIsNone(launches[1].number("gpu__time_duration.sum"))

    def test_a_later_column_of_the_same_plain_name_does_not_count(self):
        self.assertEqual(parse_launches(OUR_CSV)[0].grid, (64, 2, 1))

    def test_no_table(self):
        self.assertEqual(parse_launches("==WARNING== No kernels were profiled.\n"), [])
        self.assertEqual(parse_launches(""), [])

    def test_cut_row_is_passed_over(self):
        self.assertEqual(len(parse_launches(OUR_CSV + "6,41,0")), 2)

    def test_numbers(self):
        self.assertEqual(as_number("12,345"), 12345)
        for text in (None, "", "n/a", "nan", "inf"):
            self.assertIsNone(as_number(text))

    def test_plain_names(self):
        self.assertEqual(plain_name("Kernel Name"), "kernel_name")
        self.assertEqual(plain_name("cost_ns [ns]"), "cost_ns")
        self.assertEqual(plain_name("dram__bytes.sum (byte)"), "dram__bytes.sum")

    def test_dimensions_in_other_spellings(self):
        self.assertEqual(launch_tables._dimensions("64x2x1"), (64, 2, 1))
        self.assertEqual(launch_tables._dimensions("64"), (64, 1, 1))


class JoinTest(unittest.TestCase):
    def test_pairs_in_order(self):
        ours = [launch("a"), launch("b"), launch("a")]
        joined = join([launch("a"), launch("b"), launch("a")], ours)
        self.assertEqual([pair[1] for pair in joined.pairs], ours)
        self.assertEqual((joined.only_reference, joined.only_other), ([], []))

    def test_what_one_tool_left_alone_does_not_shift_the_rest(self):
        reference = [launch("a"), launch("graph"), launch("graph"), launch("b"), launch("a")]
        joined = join(reference, [launch("a"), launch("b"), launch("a"), launch("c")])
        self.assertEqual([one.mangled for one, _ in joined.pairs], ["a", "b", "a"])
        self.assertEqual([one.mangled for one in joined.only_reference], ["graph", "graph"])
        self.assertEqual([one.mangled for one in joined.only_other], ["c"])

    def test_another_grid_is_another_launch(self):
        joined = join([launch("a", grid=(2, 1, 1))], [launch("a", grid=(4, 1, 1))])
        self.assertEqual(joined.pairs, [])


class DeviationTest(unittest.TestCase):
    def test_relative(self):
        rule = Rule("m", RELATIVE, 5, near_zero=2)
        self.assertEqual(deviate(rule, "50", "51"), (RELATIVE, 50, 51, 2))
        self.assertEqual(deviate(rule, "0.5", "1")[::3], (POINTS, 0.5))
        self.assertEqual(deviate(Rule("m", RELATIVE, 5), "0", "0")[::3], (POINTS, 0))

    def test_printed_digits_decide(self):
        rule = Rule("m", PRINTED)
        self.assertEqual(deviate(rule, "0.24", "0.2424")[3], 0)
        self.assertAlmostEqual(deviate(rule, "0.24", "0.2460")[3], 0.006)
        self.assertEqual(deviate(rule, "8", "9")[3], 1)

    def test_missing_figures(self):
        self.assertIsNone(deviate(Rule("m", EXACT), None, "1"))
        self.assertIsNone(deviate(Rule("m", EXACT), "1", "n/a"))

    def test_summary(self):
        summary = summarize([-3, 1, 2])
        self.assertEqual((summary.n, summary.median, summary.least, summary.greatest), (3, 2, -3, 2))
        self.assertIsNone(summarize([]))

    def verdict(self, rule, *figures):
        pairs = [(launch("k", i, m=str(ncu)), launch("k", i, m=str(ours))) for i, (ncu, ours) in enumerate(figures)]
        deviations, missing = compare([rule], "program", pairs)
        return judge(rule, deviations, missing.get("m", 0))

    def test_exact_metric_fails_by_one(self):
        self.assertTrue(self.verdict(Rule("m", EXACT), ("1,000", 1000), (5, 5)).passed)
        self.assertFalse(self.verdict(Rule("m", EXACT), (1000, 1000), (5, 6)).passed)

    def test_median_decides_over_single_deviations(self):
        rule = Rule("m", RELATIVE, 5)
        self.assertTrue(self.verdict(rule, (100, 101), (100, 99), (100, 150)).passed)
        self.assertFalse(self.verdict(rule, (100, 106), (100, 94), (100, 100)).passed)

    def test_a_missing_figure_fails(self):
        finding = self.verdict(Rule("m", EXACT), (1, 1), (1, ""))
        self.assertEqual((finding.passed, finding.missing), (False, 1))
        self.assertFalse(self.verdict(Rule("m", EXACT)).passed)

    def test_near_zero_is_kept_apart(self):
        finding = self.verdict(Rule("m", RELATIVE, 5, near_zero=2), (0.1, 0.3), (50, 50))
        self.assertEqual((finding.main.n, finding.near.n), (1, 1))
        self.assertAlmostEqual(finding.near.greatest, 0.2)


class TableTest(unittest.TestCase):
    def test_text(self):
        self.assertEqual(text_table(("a", "bb"), [("1", "x\ny"), ("222", "")]), "a    bb\n---  ---\n1    x y\n222")

    def test_markdown(self):
        self.assertEqual(markdown_table(("a",), [("x|y",)]), "| a |\n| --- |\n| x\\|y |")


class ScoreboardTest(unittest.TestCase):
    def test_outcomes(self):
        board = Scoreboard(lambda line: None)
        for error in (None, Skipped("no GPU"), CheckFailed("differs"), ValueError("bug")):
            with board.case("part", "case"):
                if error is not None:
                    raise error
        self.assertEqual([row.status for row in board.rows], [PASS, SKIP, FAIL, FAIL])
        self.assertTrue(board.failed())
        self.assertEqual(board.counts(), {PASS: 1, FAIL: 2, SKIP: 1, "figure": 0})


class InFolder(unittest.TestCase):
    """A folder of its own for each test, and a bench whose profilers are stand-ins."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.commands = Commands(self.folder / "logs", 60)
        self.board = Scoreboard(lambda line: None)

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
        path.chmod(0o755)
        return path

    def bench(self, dlkprof, ncu="raise SystemExit('==ERROR== no counters here')"):
        self.script("install/bin/dlkprof", dlkprof)
        profiler = Ncu(self.commands)
        profiler.program = str(self.script("ncu", ncu))
        return Bench(self.board, self.commands, Dlkprof(self.folder / "install", self.folder / "captures", self.commands),
                     profiler, self.folder, self.folder / "programs")

    def statuses(self):
        return {row.case: (row.status, row.detail) for row in self.board.rows}


class CommandsTest(InFolder):
    def test_exit_codes_as_a_shell_gives_them(self):
        self.assertEqual(self.commands.run("seven", ["sh", "-c", "exit 7"]).code, 7)
        self.assertEqual(self.commands.run("killed", ["sh", "-c", "kill -9 $$"]).code, 137)

    def test_streams_are_kept_apart_and_logged(self):
        done = self.commands.run("streams", ["sh", "-c", "echo out; echo err >&2"])
        self.assertEqual((done.stdout, done.stderr), (b"out\n", "err\n"))
        self.assertEqual((self.folder / "logs" / "streams.out").read_bytes(), b"out\n")
        self.commands.run("streams", ["true"])
        self.assertTrue((self.folder / "logs" / "streams_2.out").exists())

    def test_time_limit_ends_the_whole_group(self):
        done = self.commands.run("slow", ["sh", "-c", "sleep 30 & sleep 30"], timeout=3)
        self.assertTrue(done.timed_out)
        self.assertLess(done.seconds, 10)
        with self.assertRaises(CheckFailed):
            done.require_success()

    def test_interrupt_comes_once_the_text_is_there(self):
        program = self.script("waits", "import time\nprint('ready', flush=True)\ntime.sleep(20)\n")
        done = self.commands.run("waits", [program], timeout=15, interrupt_at=b"ready")
        self.assertEqual((done.code, done.stdout, done.timed_out), (130, b"ready\n", False))

    def test_nothing_starts_after_the_deadline(self):
        with self.assertRaises(Skipped):
            Commands(self.folder / "late", 1).run("late", ["true"])


# Runs the program, keeps a table of two launches, and reports it: a dlkprof that does all right.
GOOD_DLKPROF = f"""
import subprocess, sys
if sys.argv[1] == "report":
    sys.stdout.write({OUR_CSV!r})
    sys.exit(0)
sys.exit(subprocess.call(sys.argv[sys.argv.index("--") + 1:]))
"""


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


class SelectionTest(InFolder):
    CSV = ('ID,Kernel Name,Grid Size,Block Size,smsp__inst_executed.sum\n'
           '0,alpha,"(64, 1, 1)","(64, 1, 1)",100\n1,alpha,"(64, 1, 1)","(64, 1, 1)",{}\n')

    def compare(self, ncu_count, our_count):
        report = GOOD_DLKPROF.replace(repr(OUR_CSV), repr(self.CSV.format(our_count)))
        bench = self.bench(report, f"print({self.CSV.format(ncu_count)!r})")
        return part_selection.compare(bench, "one", ("-c", "2"), ["true"])

    def test_same(self):
        self.assertEqual(self.compare(200, "200.0"), "2 launches, the same")

    def test_another_launch_of_the_same_kernel_differs(self):
        with self.assertRaisesRegex(CheckFailed, "only ncu: 1"):
            self.compare(200, 300)

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
        for code, stderr in ((1, "dlkprof: wrong\\n"), (2, "wrong\\n"), (2, "dlkprof: wrong\\ndlkprof: again\\n"), (2, "dlkprof: no\\n")):
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
        bench = self.bench("print('dlkprof 9.9.9')")
        rules = [Rule("exact", EXACT), Rule("share", RELATIVE, 5, near_zero=2), Rule("absent", PRINTED)]
        pairs = [(launch("k", 0, exact="7", share="50", absent="1"), launch("k", 0, exact="7", share="60")),
                 (launch("k", 1, exact="7", share="1"), launch("k", 1, exact="8", share="1.1"))]
        figures = part_accuracy.Figures()
        part_accuracy.take(pairs, part_accuracy.Program("p", []), rules, figures)
        figures.against_self = compare(rules, "p", [(pairs[0][0], pairs[0][0])])[0]
        part_accuracy.conclude(bench, rules, figures)
        statuses = self.statuses()
        self.assertEqual([statuses[name][0] for name in ("exact", "share", "absent")], [FAIL, FAIL, FAIL])
        self.assertIn("median 20 % (limit 5)", statuses["share"][1])
        self.assertIn("near zero: n 1", statuses["share"][1])
        page = (self.folder / "accuracy.md").read_text()
        self.assertIn("| `share` | % | 1 | 20 | 20 | 20 | 5 | FAIL | 0 | 0 |", page)
        self.assertIn("| p | 1 | `k` | `exact` | 7 | 8 | 1 |", page)
        self.assertIn("| p | 0 | `k` | `share` | 50 | 60 | 20 % | 0 % |", page)
        self.assertIn("dlkprof | 9.9.9", page)

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
    def test_step_time_of_cifar10(self):
        done = self.commands.run("step", ["sh", "-c", "echo 'samples_per_second 10.0 median_step_ms 1.25 timed_steps 5' >&2"])
        self.assertEqual(part_cost.step_ms(done), 1.25)
        with self.assertRaises(CheckFailed):
            part_cost.step_ms(self.commands.run("silent", ["true"]))

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
            gpu_tests.write_results(bench, [("GPU", "none")], 1.0)
        sink.close()
        self.assertIn("| part | case | skip | no GPU |", (self.folder / "results.md").read_text())
        self.assertTrue((self.folder / "results.json").exists())


if __name__ == "__main__":
    unittest.main()
