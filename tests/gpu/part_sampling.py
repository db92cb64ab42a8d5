"""PM sampling of training loops: the output is the same, what it costs, and how its figures compare with kernel replay's."""

import csv
import io
import statistics
import time

from harness import Skipped, check
from side_by_side import Loop, Times, Variant, environment_of, ratio_words, take_turns
from tools import mean_step_ms

PART = "sampling"

LIMIT = 120
OPTIONS = ("--replay-mode", "sample")
CIFAR10, PAIRS, CIFAR10_LIMIT = "cifar10.py batch 512", 4, 1.05
# A turn is longer than CUPTI is away between two bursts (2 s), so that bursts fall into turns. Some comings of CUPTI fall into
# the time in which the process waits for its turn, and are not counted: what is measured is a little less than what it costs.
TRANSFORMER, TRANSFORMER_LIMIT = Loop("transformer.py", 50, 1), 1.02
TRANSFORMER_BATCH, SETS, ROUNDS, LEAST_ROUNDS, BUDGET_S = 32, 3, 12, 6, 400
ENOUGH = 100        # samples of a kernel
MOST_POINTS = 5.0   # that a share of peak may be apart


def run(bench):
    try:
        bench.require_torch()
    except Skipped as reason:
        bench.board.skip(PART, "training loops", reason)
        return
    cifar10 = bench.cifar10("--batch_size", "512", "--iters", "4000", "--print_every", "500")
    with bench.board.case(PART, f"{CIFAR10}: the same output, and its step time") as row:
        row.detail = beside_alone(bench, cifar10)
    with bench.board.case(PART, f"{CIFAR10}: figures beside kernel replay") as row:
        row.detail = beside_kernel_replay(bench, bench.cifar10("--batch_size", "512", "--iters", "20"))
    transformer = bench.transformer("--batch_size", str(TRANSFORMER_BATCH), "--iters", "60", "--print_every", "20")
    with bench.board.case(PART, f"transformer.py batch {TRANSFORMER_BATCH}: the same output") as row:
        row.detail = f"{same_output(bench, 'transformer', transformer)} bytes of stdout"
    with bench.board.case(PART, f"transformer.py batch {TRANSFORMER_BATCH}: its step time") as row:
        row.detail = transformer_in_turns(bench)


def pair_of(bench, name, program):
    """The program alone and sampled, which print the same."""
    alone = bench.commands.run(f"sampling_{name}_alone", program, timeout=LIMIT).require_success()
    sampled = bench.dlkprof.profile(f"sampling_{name}", (*OPTIONS, "--force"), program, timeout=LIMIT).require_success()
    check(sampled.stdout == alone.stdout, f"stdout differs under {' '.join(OPTIONS)}")
    return alone, sampled


def same_output(bench, name, program):
    return len(pair_of(bench, name, program)[0].stdout)


def beside_alone(bench, program):
    """Pairs that take turns: all steps of each, so that bursts count as they do for the user."""
    pairs = [[mean_step_ms(done, 512) for done in pair_of(bench, "cifar10", program)] for _ in range(PAIRS)]
    alone, ratios = [alone for alone, _ in pairs], [sampled / alone for alone, sampled in pairs]
    words = (f"mean step alone {statistics.median(alone):.4f} ms ({min(alone):.4f} to {max(alone):.4f}); "
             f"sampled {statistics.median(ratios):.4f} of that ({min(ratios):.4f} to {max(ratios):.4f}, n {PAIRS} pairs of processes)")
    check(statistics.median(ratios) <= CIFAR10_LIMIT, f"{words}; limit {CIFAR10_LIMIT}")
    return words


def transformer_in_turns(bench):
    """Turns of seconds rather than whole processes, which are up to 17 % apart when alone."""
    name = "sampling_turns"
    times = Times(TRANSFORMER_BATCH)
    variants = [Variant("alone", {}), Variant("sampled", environment_of(bench, name, OPTIONS))]
    deadline = time.monotonic() + BUDGET_S
    for _ in range(SETS):
        if time.monotonic() < deadline:
            take_turns(bench, variants, [times], ROUNDS, deadline, TRANSFORMER)
    captures = sorted(bench.dlkprof.captures.glob(f"{name}*.dlkcap"))
    check(len(captures) >= len(times.sets) > 0, f"{len(captures)} captures of {len(times.sets)} processes")
    return f"{turns_verdict(times)}; {sampled_kernels(bench, captures[-1])} kernels in one of the captures have samples"


def sampled_kernels(bench, capture):
    rows = csv.DictReader(io.StringIO(sampling_report(bench, capture)))
    kernels = {row["Kernel Name"] for row in rows if row["Level"] == "kernel"}
    check(kernels, f"{capture.name}: nothing was sampled")
    return len(kernels)


def sampling_report(bench, capture):
    done = bench.dlkprof.run("sampling.report", ["report", capture, "--reports", "sampling", "--format", "csv"]).require_success()
    return done.stdout.decode(errors="replace")


def turns_verdict(times):
    if times.rounds < LEAST_ROUNDS:
        raise Skipped(f"{times.rounds} rounds; {LEAST_ROUNDS} are needed")
    alone, noise = times.of("alone"), times.noise("alone")
    sets = [statistics.median(a / b for a, b in zip(one["sampled"], one["alone"])) for one in times.sets]
    words = (f"step time, turn by turn: {ratio_words(times, 'sampled', 'alone')}; medians of {len(sets)} sets of processes "
             f"{', '.join(f'{one:.4f}' for one in sets)}; {statistics.median(alone):.2f} ms a step alone ({min(alone):.2f} to "
             f"{max(alone):.2f}), {TRANSFORMER.steps} steps a turn; turns alone, each against the one before: {min(noise):.4f} to "
             f"{max(noise):.4f}")
    check(statistics.median(times.ratios("sampled", "alone")) <= TRANSFORMER_LIMIT, f"{words}; limit {TRANSFORMER_LIMIT}")
    return words


def beside_kernel_replay(bench, program):
    """Shares of peak of each kernel that has one launch configuration, and samples enough."""
    sampled = sampled_shares(sampling_report(bench, bench.dlkprof.capture("sampling_cifar10")))
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
