"""PM sampling of training loops: the output is the same, what it costs, and how its figures compare with kernel replay's."""

import dataclasses
import statistics
import time

from harness import Skipped, check, spread
from side_by_side import Loop, Player, Variant, environment_of
from tools import mean_step_ms

PART = "sampling"

LIMIT = 120
OPTIONS = ("--replay-mode", "sample")
CIFAR10, PAIRS, CIFAR10_LIMIT = "cifar10.py batch 512", 4, 1.05
# A step a turn. Between bursts CUPTI is away for 2 s, so that a burst is in one step of some twenty.
TRANSFORMER, TRANSFORMER_LIMIT = Loop("transformer.py", 1, 40), 1.02
TRANSFORMER_BATCH, SETS, STRETCH_S, LEAST_STEPS = 32, 3, 25, 100
ENOUGH = 100  # samples of a kernel
MOST_POINTS = 5.0  # that a share of peak may be apart


def run(bench):
    if not bench.has_torch(PART, "training loops"):
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
        row.detail = bursts_verdict(step_by_step(bench))


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
    words = (
        f"mean step alone {spread(alone, '.4f')} ms; "
        f"sampled {statistics.median(ratios):.4f} of that ({min(ratios):.4f} to {max(ratios):.4f}, n {PAIRS} pairs of processes)"
    )
    check(statistics.median(ratios) <= CIFAR10_LIMIT, f"{words}; limit {CIFAR10_LIMIT}")
    return words


@dataclasses.dataclass(frozen=True)
class Stretch:
    """Steps of one process, one after another, ms each."""

    steps: list

    @property
    def mean(self):
        return statistics.fmean(self.steps)

    @property
    def middle(self):
        """Where few steps have a burst: what a step without one takes."""
        return statistics.median(self.steps)


def step_by_step(bench):
    """(alone, sampled) of each set of processes. They run one after another, as a sampler at rest in one would be seen in another."""
    sampled = Variant("sampled", environment_of(bench, "sampling_steps", OPTIONS))
    sets = []
    for number in range(SETS):
        variants = [Variant("alone", {}), sampled]
        done = {variant.name: stretch(bench, variant) for variant in (variants[::-1] if number % 2 else variants)}
        sets.append((done["alone"], done["sampled"]))
    captures = sorted(bench.dlkprof.captures.glob("sampling_steps*.dlkcap"))
    check(len(captures) >= SETS, f"{len(captures)} captures of {SETS} processes")
    check(all(bench.dlkprof.sampled_kernels(capture) for capture in captures[-SETS:]), "nothing was sampled")
    return sets


def stretch(bench, variant):
    with Player(bench, variant, TRANSFORMER) as player:
        player.start(TRANSFORMER_BATCH)
        player.answer(LIMIT)
        for _ in range(TRANSFORMER.warm_up_turns):
            player.turn()
        steps, deadline = [], time.monotonic() + STRETCH_S
        while time.monotonic() < deadline:
            steps.append(player.turn())
        player.end()
    return Stretch(steps)


def bursts_verdict(sets):
    """The mean step beside the median one of the same process: what bursts add, and CUPTI's coming and going, which processes that
    differ by more than the limit do not hide. A process alone has slow steps too, and so the same of it is divided by. And the mean
    step beside that alone, as all steps may be slower."""
    if min(len(one.steps) for pair in sets for one in pair) < LEAST_STEPS:
        raise Skipped(f"fewer than {LEAST_STEPS} steps")
    bursts = [(sampled.mean / sampled.middle) / (alone.mean / alone.middle) for alone, sampled in sets]
    middles = [sampled.middle / alone.middle for alone, sampled in sets]
    means = [sampled.mean / alone.mean for alone, sampled in sets]
    words = (
        f"mean over median step, sampled beside alone: {spread(bursts, '.4f')}; median steps, most without a burst, "
        f"{spread(middles, '.4f')} of those alone; mean steps {spread(means, '.4f')}; n {len(sets)} pairs of processes, "
        f"{min(len(one.steps) for pair in sets for one in pair)} steps or more each; alone "
        f"{statistics.median(alone.middle for alone, _ in sets):.2f} ms a step"
    )
    check(max(statistics.median(bursts), statistics.median(means)) <= TRANSFORMER_LIMIT, f"{words}; limit {TRANSFORMER_LIMIT}")
    return words


def beside_kernel_replay(bench, program):
    """Shares of peak of each kernel that has one launch configuration, and samples enough."""
    sampled = sampled_shares(bench.dlkprof.report(bench.dlkprof.capture("sampling_cifar10"), "sampling"))
    bench.dlkprof.profile(
        "sampling_reference", ("--replay-mode", "kernel", "--set", "quick", "--samples", "1"), program, timeout=LIMIT
    ).require_success()
    return compare(sampled, measured_shares(bench.dlkprof.report(bench.dlkprof.capture("sampling_reference"), "measured")))


def sampled_shares(rows):
    """(kernel, metric) -> share in per cent, of kernels with samples enough."""
    return {
        (row["Kernel Name"], row["Metric"]): float(row["Value"])
        for row in rows
        if row["Level"] == "kernel" and "pct_of_peak" in row["Metric"] and int(row["# Samples"]) >= ENOUGH
    }


def measured_shares(rows):
    """The same of kernel replay, of kernels with one launch configuration."""
    rows = [row for row in rows if "pct_of_peak" in row["Metric"]]
    configurations = {}
    for row in rows:
        configurations.setdefault(row["Kernel Name"], set()).add(row["Config"])
    return {
        (row["Kernel Name"], row["Metric"]): float(row["Mean"]) for row in rows if len(configurations[row["Kernel Name"]]) == 1
    }


def compare(sampled, measured):
    apart = {key: value - measured[key] for key, value in sampled.items() if key in measured}
    check(apart, "no kernel was both sampled and measured")
    kernels = {kernel for kernel, _ in apart}
    far = [
        f"{metric} of {kernel[:60]} {measured[kernel, metric]:.1f} %, sampled {sampled[kernel, metric]:.1f}"
        for (kernel, metric), points in sorted(apart.items(), key=lambda one: -abs(one[1]))
        if abs(points) > MOST_POINTS
    ]
    words = (
        f"{len(apart)} shares of peak of {len(kernels)} kernels with {ENOUGH} samples or more: "
        f"{statistics.median(map(abs, apart.values())):.2f} points apart in the median, at most {max(map(abs, apart.values())):.2f}; "
        f"{len(far)} beyond {MOST_POINTS:.0f}"
    )
    check(not far, "; ".join([words, *far]))
    return words
