"""PM sampling of training loops: the output is the same, what it costs, and how its figures compare with kernel replay's."""

import csv
import io
import statistics

from harness import Skipped, check
from tools import mean_step_ms

PART = "sampling"

LIMIT = 120
PAIRS = 4
MOST_SLOWER = {"cifar10.py batch 512": 1.05, "transformer.py batch 32": 1.02}
BATCH_SIZES = {"cifar10.py batch 512": 512, "transformer.py batch 32": 32}
ENOUGH = 100        # samples of a kernel
MOST_POINTS = 5.0   # that a share of peak may be apart


def run(bench):
    try:
        bench.require_torch()
    except Skipped as reason:
        bench.board.skip(PART, "training loops", reason)
        return
    programs = {"cifar10.py batch 512": bench.cifar10("--batch_size", "512", "--iters", "4000", "--print_every", "500"),
                "transformer.py batch 32": bench.transformer("--batch_size", "32", "--iters", "150", "--print_every", "25")}
    for what, program in programs.items():
        with bench.board.case(PART, f"{what}: the same output, and its step time") as row:
            row.detail = beside_alone(bench, what, program)
    with bench.board.case(PART, "cifar10.py batch 512: figures beside kernel replay") as row:
        row.detail = beside_kernel_replay(bench, bench.cifar10("--batch_size", "512", "--iters", "20"))


def name_of(what):
    return "sampling_" + what.split(".")[0]


def beside_alone(bench, what, program):
    """Pairs that take turns: all steps of each, so that bursts count as they do for the user."""
    steps = {"alone": [], "sampled": []}
    for pair in range(PAIRS):
        alone = bench.commands.run(f"{name_of(what)}_alone{pair}", program, timeout=LIMIT).require_success()
        done = bench.dlkprof.profile(name_of(what), ("--replay-mode", "sample", "--force"), program, timeout=LIMIT).require_success()
        check(done.stdout == alone.stdout, "stdout differs under --replay-mode sample")
        for variant, one in (("alone", alone), ("sampled", done)):
            steps[variant].append(mean_step_ms(one, BATCH_SIZES[what]))
    ratios = [ours / alone for ours, alone in zip(steps["sampled"], steps["alone"])]
    words = (f"mean step alone {statistics.median(steps['alone']):.4f} ms ({min(steps['alone']):.4f} to {max(steps['alone']):.4f}); "
             f"sampled {statistics.median(ratios):.4f} of that ({min(ratios):.4f} to {max(ratios):.4f}, n {PAIRS} pairs of processes)")
    check(statistics.median(ratios) <= MOST_SLOWER[what], f"{words}; limit {MOST_SLOWER[what]}")
    return words


def beside_kernel_replay(bench, program):
    """Shares of peak of each kernel that has one launch configuration, and samples enough."""
    done = bench.dlkprof.run("sampling.report", ["report", bench.dlkprof.capture(name_of("cifar10.py")), "--reports", "sampling",
                                                 "--format", "csv"]).require_success()
    sampled = sampled_shares(done.stdout.decode(errors="replace"))
    bench.dlkprof.profile("sampling_reference", ("--replay-mode", "kernel", "--set", "quick", "--samples", "1"), program,
                          timeout=LIMIT).require_success()
    done = bench.dlkprof.run("sampling_reference.report", ["report", bench.dlkprof.capture("sampling_reference"), "--reports", "measured",
                                                           "--format", "csv"]).require_success()
    return compare(sampled, measured_shares(done.stdout.decode(errors="replace")))


def sampled_shares(text):
    """(kernel, metric) -> share in per cent, of kernels with samples enough."""
    return {(row["Kernel Name"], row["Metric"]): float(row["Value"]) for row in csv.DictReader(io.StringIO(text))
            if row["Level"] == "kernel" and "pct_of_peak" in row["Metric"] and int(row["# Samples"]) >= ENOUGH}


def measured_shares(text):
    """The same of kernel replay, of kernels with one launch configuration."""
    rows = [row for row in csv.DictReader(io.StringIO(text)) if "pct_of_peak" in row["Metric"]]
    configurations = {}
    for row in rows:
        configurations.setdefault(row["Kernel Name"], set()).add(row["Config"])
    return {(row["Kernel Name"], row["Metric"]): float(row["Mean"]) for row in rows if len(configurations[row["Kernel Name"]]) == 1}


def compare(sampled, measured):
    apart = {key: value - measured[key] for key, value in sampled.items() if key in measured}
    check(apart, "no kernel was both sampled and measured")
    kernels = {kernel for kernel, _ in apart}
    far = [f"{metric} of {kernel[:60]} {measured[kernel, metric]:.1f} %, sampled {sampled[kernel, metric]:.1f}"
           for (kernel, metric), points in sorted(apart.items(), key=lambda one: -abs(one[1])) if abs(points) > MOST_POINTS]
    words = (f"{len(apart)} shares of peak of {len(kernels)} kernels with {ENOUGH} samples or more: "
             f"{statistics.median(map(abs, apart.values())):.2f} points apart in the median, at most {max(map(abs, apart.values())):.2f}; "
             f"{len(far)} beyond {MOST_POINTS:.0f}")
    check(not far, "; ".join([words, *far]))
    return words
