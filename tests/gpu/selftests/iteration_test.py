"""The part iteration, as a whole over a dlkprof that only plays its part."""

import sys

import one_pass
import part_iteration
from figures_test import launch
from harness import CheckFailed
from stand_ins import InFolder

COMPARED = "--set basic beside kernel replay, metrics of one pass"

# Six kernels, whose a__wait.sum is 150 in windows and 100 under kernel replay; metrics named wide__ need three passes, of the others
# one counts six.
DLKPROF = """
import pathlib, subprocess, sys

def after(option):
    return sys.argv[sys.argv.index(option) + 1]

metrics = ["gpu__time_duration.sum", "smsp__inst_executed.sum", "a__wait.sum", "wide__b.sum", "lts__t_sector_hit_rate.pct"]
metrics += [f"a__metric_{number}.sum" for number in range(8)]
if "--metrics" in sys.argv:
    metrics = after("--metrics").split(",")
if "--dry-run" in sys.argv:
    alone = [3 if metric.startswith("wide") else 1 for metric in metrics]
    print("Chip        GH100")
    print("Metrics    ", len(metrics), "in", max(1, sum(alone) - 5), "passes")
    for metric, number in zip(metrics, alone):
        print(metric, " sm  by monitors ", number)
elif sys.argv[1] == "report":
    print(pathlib.Path(sys.argv[2]).read_text(), end="")
else:
    capture, mode = pathlib.Path(after("--output_path"), after("--base_name") + ".dlkcap"), after("--replay-mode")
    wait = 150 if mode == "iteration" else AGAIN if "second" in capture.name else 100
    values = {"gpu__time_duration.sum": 20000, "a__wait.sum": wait, "lts__t_sector_hit_rate.pct": 50}
    passes = max(3 if metric.startswith("wide") else 1 for metric in metrics)
    with open(capture, "w") as file:
        print("ID,Kernel Name,Grid Size,Block Size,Replay Mode,Passes,cost_ns", *metrics, sep=",", file=file)
        for number, kernel in enumerate("abcdef", int(after("--launch-skip-before-match"))):
            of_launch = [number, kernel, '"(1, 1, 1)","(32, 1, 1)"', mode, passes, 7]
            print(*of_launch, *(values.get(metric, 7) for metric in metrics), sep=",", file=file)
    sys.exit(subprocess.call(sys.argv[sys.argv.index("--") + 1:]))
"""


class IterationPartTest(InFolder):
    def run_part(self, again):
        """`again`: a__wait.sum where kernel replay measures it a second time. How the case ended that compares it."""
        bench = self.bench(DLKPROF.replace("AGAIN", str(again)))
        bench.require_torch = lambda: None
        bench.cifar10 = lambda *words: [sys.executable, "-c", "print(1)"]
        part_iteration.run(bench)
        return self.statuses()[COMPARED]

    def test_only_what_is_far_is_measured_again(self):
        status, detail = self.run_part(again=104)
        self.assertEqual("FAIL", status)
        self.assertRegex(detail, r"beyond 5 and 15 %: a__wait.sum 50.00 % .*by itself, twice: 4.00 %")
        others = [row for row in self.board.rows if row.case != COMPARED]
        self.assertEqual({"pass"}, {row.status for row in others}, others)
        second = [path.name for path in (self.folder / "captures").glob("*second*")]
        self.assertEqual(1, len(second), second)
        page = (self.folder / "iteration_accuracy.md").read_text()
        self.assertIn("kernel replay twice", page)
        self.assertIn("| `wide__b.sum` | 6 | 0.00 % and 0.00 % |", page)
        named = [line for line in page.splitlines() if line.startswith("| `a__wait.sum` | `")]
        self.assertEqual(3, len(named), page)
        self.assertIn("| `a__wait.sum` | `a`, 1x1x1x32x1x1 | 20000 | 150 | 100 | 104 |", named)

    def test_what_kernel_replay_does_not_repeat_is_not_judged(self):
        status, detail = self.run_part(again=160)
        self.assertEqual("pass", status, detail)
        self.assertIn("as the reference does not repeat them: a__wait.sum 50.00 % and 50.00 % (by itself, twice: 60.00 %", detail)

    def test_other_caches_are_left_out(self):
        def hits(number, per_cent):
            return launch("kernel", ID=number, **{part_iteration.L2_HITS: per_cent})

        alike = part_iteration.with_caches_alike([(hits("1", "50"), hits("1", "55")), (hits("2", "50"), hits("2", "56"))])
        self.assertEqual([ours.text("ID") for ours, _ in alike], ["1"])

    def test_runs_of_groups_of_metrics_are_merged(self):
        runs = [{"first": {"a__b.sum": 1.0}, "second": {"a__b.sum": 2.0}}, {"second": {"c__d.sum": 3.0}}]
        self.assertEqual({"second": {"a__b.sum": 2.0, "c__d.sum": 3.0}}, part_iteration.merged(runs))

    def test_groups_of_one_pass(self):
        metrics = [f"a__metric_{number}.sum" for number in range(7)]
        groups, several = one_pass.groups_of(self.script("dlkprof", DLKPROF), ["wide__c.sum", *metrics])
        self.assertEqual(([metrics[:6], metrics[6:]], ["wide__c.sum"]), (groups, several))
        with self.assertRaisesRegex(CheckFailed, "ended with 2: no"):
            one_pass.groups_of(self.script("dlkprof", "import sys; sys.stderr.write('no'); sys.exit(2)"), metrics)
