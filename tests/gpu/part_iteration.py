"""Iteration replay of cifar10.py: that it disturbs nothing, what it measures beside kernel replay, and what it costs."""

import statistics

from harness import CheckFailed, Skipped, check

PART = "iteration"

PROGRAM = ("--iters", "300", "--print_every", "20", "--batch_size", "512")
SETS = ("quick", "basic")
INSTRUCTIONS = "smsp__inst_executed.sum"
DURATION = "gpu__time_duration.sum"
LONG_NS = 10_000   # shorter kernels differ from launch to launch by more than a few per cent
MOST_APART = 0.01  # instructions, at the 90th percentile: launches of one configuration differ in their arguments and data
COMPARED = (DURATION, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "sm__warps_active.avg.pct_of_peak_sustained_active",
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "dram__bytes.sum", "lts__t_sector_hit_rate.pct",
            "l1tex__t_sector_hit_rate.pct", "l1tex__t_bytes.sum")


def run(bench):
    measured = {}
    try:
        bench.require_torch()
        program = bench.cifar10(*PROGRAM)
        alone = bench.commands.run("iteration_alone", program, timeout=90).require_success()
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "cifar10.py", reason)
        return
    for name in SETS:
        with bench.board.case(PART, f"--set {name}: cifar10.py prints the same, and is measured") as row:
            measured[name], row.detail = profile(bench, name, "iteration", program, alone)
    with bench.board.case(PART, "--set basic beside kernel replay") as row:
        check("basic" in measured, "not measured")
        reference, _ = profile(bench, "basic", "kernel", program, alone)
        row.detail = compare(measured["basic"], reference)


def profile(bench, metric_set, mode, program, alone):
    """The launches of a run, and what it cost, from the capture."""
    name = f"iteration_{metric_set}_{mode}"
    options = ("--replay-mode", mode, "--set", metric_set, "--samples", "1", "--timeline", "off")
    done = bench.dlkprof.profile(name, options, program, timeout=120).require_success()
    check(done.stdout == alone.stdout, "stdout differs")
    launches = bench.dlkprof.launches(name)
    modes = {launch.text("Replay Mode") for launch in launches}
    check(modes == {mode}, f"{len(launches)} launches, replay mode {modes}")
    costs = [launch.number("cost_ns") for launch in launches]
    check(all(costs), "launches without a cost")
    configurations = len({launch.key for launch in launches})
    return launches, (f"{len(launches)} launches of {configurations} configurations, {launches[0].number('passes'):.0f} passes: "
                      f"{sum(costs) / 1e9:.2f} s in all, {sum(costs) / len(costs) / 1e6:.3f} ms a launch; whole process "
                      f"{done.seconds:.1f} s, {alone.seconds:.1f} s alone")


def compare(ours, reference):
    """Configuration by configuration; of those measured several times the first."""
    by_key = {}
    for launch in reference:
        by_key.setdefault(launch.key, launch)
    pairs = [(launch, by_key[launch.key]) for launch in {launch.key: launch for launch in reversed(ours)}.values()
             if launch.key in by_key]
    apart = deviations(pairs, INSTRUCTIONS)
    check(apart, "no configuration was measured both ways")
    long = [pair for pair in pairs if (pair[1].number(DURATION) or 0) >= LONG_NS]
    words = [f"{len(pairs)} configurations both ways; instructions equal in {sum(value == 0 for value in apart)}, at most "
             f"{100 * max(apart):.3f} % apart", f"of {len(long)} kernels of 10 us and more, apart in the median and at the 90th percentile"]
    for metric in COMPARED:
        if values := deviations(long, metric):
            words.append(f"{metric} {100 * statistics.median(values):.2f} % and {100 * percentile(values, 90):.2f} %")
    check(statistics.median(apart) == 0 and percentile(apart, 90) <= MOST_APART, "; ".join(words))
    missing = {metric for metric in COMPARED for ours, _ in pairs if ours.number(metric) is None}
    check(not missing, f"not measured in some: {', '.join(sorted(missing))}")
    return "; ".join(words)


def deviations(pairs, metric):
    """|a - b| / |b|, where both were measured and b is not 0."""
    numbers = [(ours.number(metric), theirs.number(metric)) for ours, theirs in pairs]
    return [abs(a - b) / abs(b) for a, b in numbers if a is not None and b]


def percentile(values, share):
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, -(-share * len(ordered) // 100) - 1)]
