"""Windows of cifar10.py beside ncu's application replay, which leaves caches as the program does: ncu runs it once a pass.

Each pass of a window is of another launch, as each of ncu's is of another process: means of a launch configuration are compared."""

from configuration_figures import complete, in_windows, matched, metrics_in, of_launches
from harness import check
from iteration_table import beside, markdown
from part_iteration import PROGRAM, WARM_UP, alone

PART = "application"

SAMPLES = ("--samples", "15")
NCU_ITERATIONS = "24"  # enough for the launches that it is to measure
# Past the six iterations that windows leave out. ncu counts launches by grid and block, whichever kernel's they are: those of an
# iteration that have the same get three to five each. Single launches lie up to 12 % from their mean in the stall for drain.
NCU_LAUNCHES = ("--filter-mode", "per-launch-config", "-s", "18", "-c", "15")
# Beyond the limits in ncu itself, from launch to launch or from one set of metrics to another: the part `processes` judges them.
NO_INSTRUCTION = "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio"
FAR_WRITES = ("dram__bytes_write.sum", "dram__bytes_write.sum.per_second")
NCU_LIMIT = 530
LIMIT = 120


def run(bench):
    if not bench.has_torch(PART, "cifar10.py"):
        return
    with bench.board.case(PART, "--replay-mode iteration --set basic of cifar10.py beside ncu's application replay") as row:
        program = alone(bench, "application", PROGRAM)
        row.detail = beside_ncu(bench, with_windows(bench, "application", SAMPLES, program))


def with_windows(bench, name, options, program):
    """Figures of its configurations. `program`: its words, and how it ended alone."""
    words, alone_ended = program
    done = bench.dlkprof.profile(name, ("--replay-mode", "iteration", *options, *WARM_UP), words, timeout=LIMIT).require_success()
    check(done.stdout == alone_ended.stdout, "stdout differs")
    return in_windows(bench.dlkprof.captures / f"{name}_dldb.sqlite")


def beside_ncu(bench, windows):
    check(windows, "nothing was measured in windows")
    theirs = with_ncu(bench, "application", metrics_in(windows))
    pairs = matched(complete(windows), theirs)
    tables = beside(
        "application replay",
        pairs,
        lambda metrics: with_ncu(bench, "application_again", metrics),
        judged_elsewhere=(NO_INSTRUCTION, *FAR_WRITES),
    )
    (bench.out / "application_accuracy.md").write_text(markdown(tables))
    left_out = len(windows.keys() & theirs.keys()) - len(pairs)
    return f"{tables['application replay'].verdict()}; {left_out} configurations left out, which came too rarely for all passes"


def with_ncu(bench, name, metrics, launches=NCU_LAUNCHES):
    program = bench.cifar10("--iters", NCU_ITERATIONS, *PROGRAM[2:])
    selection = ("--replay-mode", "application", *launches)
    theirs = of_launches(bench.ncu.launches(name, metrics, selection, program, timeout=NCU_LIMIT), metrics)
    check(theirs, "ncu measured nothing")
    return theirs
