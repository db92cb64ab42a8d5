"""accuracy.md: the comparison with ncu as a page for the docs."""

import shlex
import statistics

from deviation import EXACT, PRINTED, RELATIVE
from harness import markdown_table


SM_CLOCK = "gpc__cycles_elapsed.avg.per_second"


def number(value):
    return f"{value:.0f}" if value == int(value) else f"{value:.4g}"


def in_words(finding, own):
    """One line for the table of results."""
    unit = finding.rule.kind
    if finding.main is None and finding.near is None:
        return f"no launch with a figure from both tools; {finding.missing} without"
    words = []
    if finding.main is not None and unit in (EXACT, PRINTED):
        differing = "" if finding.passed else f", off by {number(finding.main.least)} to {number(finding.main.greatest)}"
        words.append(f"n {finding.main.n}, {unit}{differing}")
    elif finding.main is not None:
        words.append(
            f"n {finding.main.n}, median {number(finding.main.median)} {unit} (limit {number(finding.rule.limit)}), "
            f"{number(finding.main.least)} to {number(finding.main.greatest)}"
        )
        if own.main is not None:
            words.append(f"ncu against itself {number(own.main.median)}")
    if finding.near is not None:
        words.append(
            f"near zero: n {finding.near.n}, median {number(finding.near.median)} points, "
            f"{number(finding.near.least)} to {number(finding.near.greatest)}"
        )
    if finding.missing:
        words.append(f"missing for {finding.missing}")
    return "; ".join(words)


def markdown(bench, figures, findings, own, point_limit):
    return (
        "\n\n".join(
            [
                "# Accuracy against Nsight Compute",
                "Written by `tests/gpu/run.sh`. Every launch below was measured by both tools, each in a run of its own of the same "
                "program; launches are joined by kernel, grid, block and order.",
                markdown_table(("what", "value"), [*bench.facts, clock_row(figures), ("launches joined", figures.joined)]),
                "## Deviations by metric",
                "Deviation = (dlkprof - ncu) / ncu, in per cent; for hit rates dlkprof - ncu, in percentage points. The median is that "
                "of the absolute deviations over launches; the verdict goes by the median over kernels, each with the median of its "
                "launches. The last two columns compare ncu's second run with its first: what lies within them is the spread of the "
                "program and the machine, not of the tool.",
                summary_table(findings, own),
                "## Single deviations over the limit",
                f"Every launch whose own deviation is over its metric's limit (near zero: {number(point_limit)} points), with that of "
                "ncu's second run for the same launch.",
                single_table(figures, findings, point_limit),
                "## Command lines",
                "The last program's; the others differ in program and selection alone.",
                "\n\n".join(f"    {shown(command)}" for command in figures.commands),
            ]
        )
        + "\n"
    )


def shown(command):
    """A command line as one would type it: without the folders of this machine."""
    words = [str(word) for word in command]
    return shlex.join(word.rsplit("/", 1)[-1] if word.startswith("/") else word for word in words)


def clock_row(figures):
    clocks = [d for d in figures.deviations if d.metric == SM_CLOCK]
    if not clocks:
        return "SM clock while measured", "not measured"
    ncu, ours = (statistics.median(values) / 1e6 for values in zip(*((d.expected, d.got) for d in clocks)))
    return "SM clock while measured, median", f"{ncu:.0f} MHz under ncu, {ours:.0f} MHz under dlkprof"


SUMMARY_HEADINGS = ("metric", "unit", "n", "median", "min", "max", "limit", "verdict", "ncu again: median", "ncu again: max")


def summary_table(findings, own):
    rows = [row for finding in findings for row in summary_rows(finding, own[finding.rule.metric])]
    return markdown_table(SUMMARY_HEADINGS, rows)


def summary_rows(finding, own):
    """A row for the rule's own unit, and one for figures near zero; one without figures where there are none."""
    verdict = "pass" if finding.passed else "FAIL"
    if finding.missing:
        verdict += f", missing for {finding.missing}"
    limit = number(finding.rule.limit) if finding.rule.limit else "0"
    rows = [summary_row(finding, finding.rule.kind, finding.main, own.main, limit, verdict)]
    if finding.near is not None:
        rows.append(summary_row(finding, "points, near zero", finding.near, own.near, "none", ""))
    return rows


def summary_row(finding, unit, summary, own, limit, verdict):
    figures = (
        ("0", "", "", "")
        if summary is None
        else (summary.n, number(summary.median), number(summary.least), number(summary.greatest))
    )
    again = ("", "") if own is None else (number(own.median), number(max(abs(own.least), abs(own.greatest))))
    return (f"`{finding.rule.metric}`", unit, *figures, limit, verdict, *again)


def single_table(figures, findings, point_limit):
    limits = {finding.rule.metric: finding.rule for finding in findings}
    again = {(d.program, d.position, d.metric): d for d in figures.against_self}
    over = [d for d in figures.deviations if d.over(single_limit(limits[d.metric], d, point_limit))]
    if not over:
        return "None."
    headings = ("program", "launch", "kernel", "metric", "ncu", "dlkprof", "deviation", "ncu again")
    return markdown_table(headings, [single_row(d, again.get((d.program, d.position, d.metric))) for d in over])


def single_limit(rule, deviation, point_limit):
    near_zero = rule.kind == RELATIVE and deviation.kind != RELATIVE
    return point_limit if near_zero else rule.limit


def single_row(deviation, again):
    unit = "" if deviation.kind in (EXACT, PRINTED) else f" {deviation.kind}"
    return (
        deviation.program,
        deviation.position,
        f"`{deviation.kernel[:60]}`",
        f"`{deviation.metric}`",
        number(deviation.expected),
        number(deviation.got),
        number(deviation.value) + unit,
        "" if again is None else number(again.value) + unit,
    )
