"""What the timeline and NVTX cost cifar10.py beyond what PyTorch's own emission of ranges costs, measured side by side."""

import csv
import statistics
import time

from harness import Skipped, check
from side_by_side import STEPS, Times, Variant, environment_of, ratio_words, take_turns

LIMIT = 1.10  # of the step time under PyTorch's emit_nvtx
BATCH_SIZES = (4, 128, 512)
SETS, ROUNDS = 8, 8  # processes differ by more than their turns do
LEAST_ROUNDS = 10  # of all sets together
BUDGET_S = 280

MEANINGS = {
    "bare": "the program alone",
    "emit_nvtx": "within `torch.autograd.profiler.emit_nvtx(record_shapes=True)`, nobody listening",
    "listening": "the same under `dlkprof --replay-mode none`: ranges, whose texts are PyTorch's, and the timeline are recorded",
    "emission": "the Python part of `--mode=pytorch`, nobody listening: ranges of modules and phases too",
    "timeline": "`dlkprof --replay-mode none`",
    "dlkprof": "`dlkprof --mode pytorch --replay-mode none`",
}
# The first is what is judged: the timeline and all ranges of --mode=pytorch, beside PyTorch's own.
RATIOS = (
    ("dlkprof", "emit_nvtx"),
    ("listening", "emit_nvtx"),
    ("dlkprof", "emission"),
    ("emission", "emit_nvtx"),
    ("emit_nvtx", "bare"),
    ("emission", "bare"),
    ("timeline", "bare"),
    ("dlkprof", "bare"),
)


def run(bench, part, options):
    """`options`: of dlkprof, for the variants that are run under it. The Times of each batch size that was measured."""
    times = [Times(size) for size in BATCH_SIZES]
    with bench.board.case(part, "cost: everything was recorded meanwhile") as row:
        row.detail = measure(bench, options, times)
    for one in times:
        with bench.board.case(part, f"cost beyond PyTorch's emission, batch {one.batch_size}") as row:
            row.detail = verdict(one)
        if one.rounds:
            bench.board.figure(part, f"cost, batch {one.batch_size}", "; ".join(ratio_words(one, *pair) for pair in RATIOS[1:]))
    return [one for one in times if one.rounds]


def verdict(times):
    if times.rounds < LEAST_ROUNDS:
        raise Skipped(f"{times.rounds} rounds; {LEAST_ROUNDS} are needed")
    medians = times.set_medians(*RATIOS[0])
    words = (
        f"{ratio_words(times, *RATIOS[0])}; medians of {len(medians)} sets of processes {min(medians):.4f} to {max(medians):.4f}; "
        f"{statistics.median(times.of('emit_nvtx')):.4f} ms a step with emit_nvtx, {statistics.median(times.of('bare')):.4f} ms bare; "
        f"{STEPS} steps a turn"
    )
    check(statistics.median(times.ratios(*RATIOS[0])) < LIMIT, f"{words}; limit {LIMIT}")
    return words


def measure(bench, options, times):
    """Fills `times`; the detail of a case: what dlkprof recorded of the turns."""
    variants = variants_of(bench, options)
    deadline = time.monotonic() + BUDGET_S
    recorded = []
    try:
        for _ in range(SETS):
            if time.monotonic() > deadline:
                break
            recorded.append(judge_captures(bench, options, take_turns(bench, variants, times, ROUNDS, deadline)))
    finally:
        remove_captures(bench, options)
    if not recorded:
        raise Skipped("out of time")
    return "; ".join(recorded)


def variants_of(bench, options):
    ours = {variant: environment_of(bench, base_name(variant), words) for variant, words in options.items()}
    python = {name: ours["dlkprof"].get(name, "") for name in ("PYTHONPATH", "DLKPROF_PYTHON")}
    check(python["DLKPROF_PYTHON"] == "pytorch", f"--mode pytorch set no DLKPROF_PYTHON: {python}")
    environments = {"bare": {}, "emit_nvtx": {}, "listening": ours["timeline"], "emission": python, **ours}
    return [Variant(name, environments[name], emit_nvtx=name in ("emit_nvtx", "listening")) for name in MEANINGS]


def base_name(variant):
    return f"cost_of_{variant}"


def captures_of(bench, variant):
    return sorted(bench.dlkprof.captures.glob(f"{base_name(variant)}*.dlkcap"))


def judge_captures(bench, options, steps):
    """That dlkprof was at work: a capture of each process, and in that with ranges every step. Removes them."""
    counts = {variant: len(captures_of(bench, variant)) for variant in options}
    check(all(counts.values()), f"captures: {counts}; dlkprof was not attached")
    capture = max(captures_of(bench, "dlkprof"), key=lambda path: path.stat().st_size)
    megabytes = capture.stat().st_size / 1e6
    found = training_steps(bench, capture)
    words = f"{found} of {steps} steps in the capture, {megabytes:.1f} MB"
    check(found == steps, words)
    remove_captures(bench, options)
    return words


def training_steps(bench, capture):
    """Iterations by the default key node, less the one before the first."""
    words = [
        f"--database={capture}",
        "--reports=summary",
        "--formats=csv",
        f"--output_path={capture.parent}",
        "--base_name=cost_summary",
        "--force",
    ]
    bench.dlkprof.run("cost_summary", words).require_success()
    with open(capture.parent / "cost_summary_summary.csv", newline="", encoding="utf-8") as file:
        values = {row["Row Name"]: row["Value"] for row in csv.DictReader(file)}
    return int(values["Total Iterations"]) - 1


def remove_captures(bench, options):
    for variant in options:
        for capture in captures_of(bench, variant):  # each of megabytes
            capture.unlink()
