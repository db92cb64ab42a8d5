"""performance.md: what profiling costs a program, as a page for the docs."""

import statistics

import emission_cost
import places
from harness import markdown_table
from side_by_side import STEPS, WARM_UP_TURNS, interval


def markdown(facts, times):
    """`facts`: rows of the machine; `times`: side_by_side.Times, one a batch size, each with a round at least."""
    return (
        "\n\n".join(
            [
                "# What profiling costs",
                "Written by `tests/gpu/run.sh INSTALL_DIR OUT_DIR timeline`. `samples/pytorch/cifar10.py` in six variants, which take "
                "turns on one GPU: what they differ in is all that differs.",
                markdown_table(("variant", "what it is"), list(emission_cost.MEANINGS.items())),
                markdown_table(("what", "value"), [*facts, *conditions(times)]),
                "## What it means",
                meaning(times),
                "## Step times",
                "Milliseconds a training step, turn by turn.",
                markdown_table(("batch", "variant", "median", "min", "max", "n"), step_rows(times)),
                "## Ratios",
                "Each turn against that of the other variant in the same round. The interval holds the median with at least 95 % (sign "
                "test); with less than 6 rounds it runs from the smallest to the largest. Turns of one process have its layout in memory "
                "in common, so it tells of these processes, and of others a little less.",
                markdown_table(("batch", "ratio", "median", "95 % interval", "min", "max", "n"), ratio_rows(times)),
            ]
        )
        + "\n"
    )


def conditions(times):
    noise = [ratio for one in times for ratio in one.noise("bare")]
    spread = f"{min(noise):.4f} to {max(noise):.4f}" if noise else "one turn each"
    return [
        ("program", f"`cifar10.py --batch_size N --print_every {STEPS}`"),
        (
            "turns",
            f"{STEPS} steps, between two waits for the GPU; {max(one.rounds for one in times)} turns of each variant and "
            f"batch size after {WARM_UP_TURNS} to warm up; who begins changes from round to round",
        ),
        ("processes", f"{max(len(one.sets) for one in times)} of each variant, all variants alive at once; {places.words()}"),
        ("bare turns, each against the one before", spread),
    ]


def meaning(times):
    listed = "\n".join(f"- Batch {one.batch_size}: {_sentence(one)}" for one in times)
    return (
        "`emit_nvtx` is what any profiler of PyTorch's ranges has to pay: PyTorch writes a text with the shapes for each op. "
        "`dlkprof / emit_nvtx` is what `--mode=pytorch` costs beside it, and must be below "
        f"{emission_cost.LIMIT:.2f}: the same ranges without the ids of inputs, those of modules and phases besides, recorded "
        "with the timeline, with the texts of shapes made in less time. `listening / emit_nvtx` is for programs that emit by themselves and run "
        "without that mode; `timeline / bare` for programs that emit no ranges."
        f"\n\n{listed}"
    )


def _sentence(times):
    def more(one, other):
        return f"{100 * (statistics.median(times.ratios(one, other)) - 1):+.1f} %"

    return (
        f"PyTorch's own emission {more('emit_nvtx', 'bare')}, `--mode=pytorch` {more('dlkprof', 'bare')}, which is "
        f"{more('dlkprof', 'emit_nvtx')} beside it; listening to PyTorch's own {more('listening', 'emit_nvtx')}; the timeline "
        f"alone {more('timeline', 'bare')}."
    )


def step_rows(times):
    return [
        (one.batch_size, f"`{variant}`", *spread(values), len(values))
        for one in times
        for variant in emission_cost.MEANINGS
        for values in [one.of(variant)]
    ]


def spread(values):
    return tuple(f"{value:.4f}" for value in (statistics.median(values), min(values), max(values)))


def ratio_rows(times):
    rows = []
    for one in times:
        for pair in emission_cost.RATIOS:
            ratios = one.ratios(*pair)
            low, high = interval(ratios)
            median, least, most = spread(ratios)
            rows.append(
                (
                    one.batch_size,
                    " / ".join(f"`{variant}`" for variant in pair),
                    median,
                    f"{low:.4f} to {high:.4f}",
                    least,
                    most,
                    len(ratios),
                )
            )
    return rows
