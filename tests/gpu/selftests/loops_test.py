"""Verdicts of the parts on loops, as parts_test.py has the others: iterations, JAX, instructions, sweeps."""

from unittest import mock

import iteration_table
import part_application
import part_instructions
import part_jax
import part_sweep
from figures_test import launch
from harness import CheckFailed
from stand_ins import GOOD_DLKPROF, InFolder


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

    def test_what_another_part_judges_is_listed(self):
        columns = {f"a__metric_{number}.sum": "7" for number in range(20)}
        columns |= {"smsp__inst_executed.sum": "7", "gpu__time_duration.sum": "20000"}
        ours, theirs = (
            [launch("kernel", ID=str(number), **columns, **{"a__wait.sum": wait}) for number in range(5)]
            for wait in ("150", "100")
        )
        pairs = iteration_table.matched_by_number(ours, theirs)
        words = iteration_table.Table(pairs, judged_elsewhere=("a__wait.sum",)).verdict()
        self.assertIn("beyond 5 and 15 %: none;", words)
        self.assertIn("in another part: a__wait.sum 50.00 % and 50.00 %", words)
        self.assertRaises(CheckFailed, iteration_table.Table(pairs).verdict)

    def test_others_launches_fail(self):
        with self.assertRaisesRegex(CheckFailed, "no launch"):
            self.verdict(self.launches(1000, 1, "8"), self.launches(1000, 1))
        with self.assertRaisesRegex(CheckFailed, "not numbered alike"):
            self.verdict([launch("other", ID="7")], self.launches(1000, 1))

    def test_short_launches_alone_fail(self):
        with self.assertRaisesRegex(CheckFailed, "nothing of 10 us and more was measured both ways"):
            self.verdict(self.launches(1000, 9999), self.launches(1000, 9999))

    def test_metrics_that_are_missing_fail(self):
        with self.assertRaisesRegex(CheckFailed, "not measured in some: gpu__time_duration.sum"):
            self.verdict(self.launches(1000, ""), self.launches(1000, 20000))

    def beside_ncu(self, first, windows, second=None):
        """By configuration, which is its kernel's name, what ncu measures of a__wait.sum, and when it is asked for that alone."""
        ncu = f"""
            import sys
            alone = sys.argv[sys.argv.index("--metrics") + 1] == "a__wait.sum"
            print('ID,Kernel Name,Grid Size,Block Size,gpu__time_duration.sum,smsp__inst_executed.sum,a__wait.sum')
            for kernel, waits in ({second!r} if alone else {first!r}).items():
                for number, wait in enumerate(waits):
                    print(f'{{number}},{{kernel}},"(1, 1, 1)","(32, 1, 1)",20000,7,{{wait}}')
            """
        ours = {
            (name, 1, 1, 1, 32, 1, 1): {"gpu__time_duration.sum": 20000.0, "smsp__inst_executed.sum": 7.0, **more}
            for name, more in windows.items()
        }
        return part_application.beside_ncu(self.bench(GOOD_DLKPROF, ncu), ours)

    def test_configurations_are_matched_with_the_mean_of_ncu(self):
        words = self.beside_ncu({"k": (4, 6, 5)}, {"k": {"a__wait.sum": 5.0}, "never by ncu": {"a__wait.sum": 7.0}})
        self.assertIn("of 1 comparisons of launches of 10 us and more, 3 metrics", words)
        self.assertIn("figures of all metrics 0.00 % and 0.00 %", words)
        self.assertIn("0 configurations left out", words)
        page = (self.folder / "application_accuracy.md").read_text()
        self.assertNotIn("twice", page)

    def test_configurations_without_all_passes_are_left_out(self):
        words = self.beside_ncu({"k": (5,), "rare": (5,)}, {"k": {"a__wait.sum": 5.0}, "rare": {}})
        self.assertIn("1 configurations left out", words)

    def test_what_is_far_is_measured_again(self):
        kernels = "abcdef"
        ours = {kernel: {"a__wait.sum": 150.0} for kernel in kernels}
        first = {kernel: (100,) for kernel in kernels}
        with self.assertRaisesRegex(CheckFailed, r"beyond 5 and 15 %: a__wait.sum 50.00 % .*by itself, twice: 4.00 %"):
            self.beside_ncu(first, ours, {kernel: (104,) for kernel in kernels})
        self.assertIn("application replay twice", (self.folder / "application_accuracy.md").read_text())

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
