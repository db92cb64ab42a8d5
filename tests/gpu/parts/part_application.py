"""Windows of cifar10.py beside ncu's application replay, which leaves caches as the program does: ncu runs it once a pass.

Each pass of a window is of another launch, as each of ncu's is of another process: means of a launch configuration are compared."""

import dataclasses

from configuration_figures import in_windows, of_launches
from harness import CheckFailed, Skipped, check
from iteration_table import Table, markdown
from part_iteration import PROGRAM, alone

PART = "application"

NCU_ITERATIONS = "14"  # enough for the launches that it is to measure
# Of each configuration, past those in which libraries and caches warm up.
NCU_LAUNCHES = ("--filter-mode", "per-launch-config", "-s", "6", "-c", "5")
NCU_LIMIT = 530
LIMIT = 120


@dataclasses.dataclass(frozen=True)
class Configuration:
    """As a launch is to iteration_table: `number`, `text` and `columns`."""

    key: tuple
    columns: dict

    def number(self, metric):
        return self.columns.get(metric)

    def text(self, _):
        return str(self.key)


def run(bench):
    try:
        bench.require_torch()
        program = alone(bench, "application", PROGRAM)
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "cifar10.py", reason)
        return
    with bench.board.case(PART, "--replay-mode iteration --set basic of cifar10.py beside ncu's application replay") as row:
        words, alone_ended = program
        done = bench.dlkprof.profile(
            "application", ("--replay-mode", "iteration", "--samples", "5"), words, timeout=LIMIT
        ).require_success()
        check(done.stdout == alone_ended.stdout, "stdout differs")
        pairs, left_out = matched_with_ncu(bench, in_windows(bench.dlkprof.captures / "application_dldb.sqlite"))
        table = Table(pairs)
        (bench.out / "application_accuracy.md").write_text(markdown({"application replay": table}))
        row.detail = f"{table.verdict()}; {left_out} configurations left out, which came too rarely for all passes"


def matched_with_ncu(bench, ours):
    """Pairs of the same configuration, of those that windows measured whole; and how many others ncu measured."""
    metrics = sorted({metric for figures in ours.values() for metric in figures})
    check(metrics, "nothing was measured in windows")
    program = bench.cifar10("--iters", NCU_ITERATIONS, *PROGRAM[2:])
    selection = ("--replay-mode", "application", *NCU_LAUNCHES)
    theirs = of_launches(bench.ncu.launches("iteration_application", metrics, selection, program, timeout=NCU_LIMIT), metrics)
    check(theirs, "ncu measured nothing")
    common = sorted(ours.keys() & theirs.keys())
    whole = [key for key in common if len(ours[key]) == len(metrics)]
    return [(Configuration(key, ours[key]), Configuration(key, theirs[key])) for key in whole], len(common) - len(whole)
