"""Instructions of cifar10.py, launch by launch: iteration replay's are kernel replay's to the last digit.

Counted in a pass of their own: with many passes each is of another iteration, and so of other data.
"""

from harness import CheckFailed, Skipped, check
from iteration_table import INSTRUCTIONS, matched_by_number

PART = "instructions"

PROGRAM = ("--iters", "60", "--print_every", "20", "--batch_size", "512")
FIRST, COUNT = 1000, 160  # launches: two steps and a little, once the libraries have warmed up
LEAST = COUNT // 2  # that must be compared: windows do not hold all
LIMIT = 60


def run(bench):
    try:
        bench.require_torch()
        program = bench.cifar10(*PROGRAM)
        alone = bench.commands.run("instructions_alone", program, timeout=LIMIT).require_success()
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "cifar10.py", reason)
        return
    with bench.board.case(PART, "cifar10.py batch 512: --replay-mode iteration beside kernel") as row:
        reference, again, ours = (
            measured(bench, name, mode, program, alone)
            for name, mode in (("kernel", "kernel"), ("kernel_again", "kernel"), ("iteration", "iteration"))
        )
        row.detail = verdict(ours, reference, unrepeatable(reference, again))


def measured(bench, name, mode, program, alone):
    options = (
        "--replay-mode",
        mode,
        "--metrics",
        INSTRUCTIONS,
        "--samples",
        "all",
        "--timeline",
        "off",
        "--cache-control",
        "none",
        "--launch-skip-before-match",
        str(FIRST),
        "-c",
        str(COUNT),
    )
    done = bench.dlkprof.profile(f"instructions_{name}", options, program, timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, f"stdout differs under {mode}")
    return bench.dlkprof.launches(f"instructions_{name}")


def unrepeatable(reference, again):
    """Kernels of which kernel replay itself does not count the same twice, as where blocks wait for one another in a loop: nobody
    can be asked to, for any of their launches."""
    return {one.mangled for one, other in matched_by_number(reference, again) if count_of(one) != count_of(other)}


def verdict(ours, reference, left_out):
    pairs = matched_by_number(ours, reference)
    judged = [pair for pair in pairs if pair[0].mangled not in left_out]
    missing = sum(count_of(launch) is None for pair in judged for launch in pair)
    other = [
        f"{one.mangled[:60]}: {count_of(one):.0f}, {count_of(two):.0f} replayed"
        for one, two in judged
        if not missing and count_of(one) != count_of(two)
    ]
    words = (
        f"equal to kernel replay's of the same launch in {len(judged) - len(other) - missing} of {len(judged)} launches of "
        f"{len({one.mangled for one, _ in judged})} kernels; {len(pairs) - len(judged)} launches left out, of {len(left_out)} "
        "kernels that kernel replay does not repeat"
    )
    check(not missing and not other, "; ".join([words, *other]))
    check(len(judged) >= LEAST, f"{words}; not of {LEAST} at least")
    return words


def count_of(launch):
    return launch.number(INSTRUCTIONS)
