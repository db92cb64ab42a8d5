"""How far one tool's figure lies from another's, and what many such deviations come to."""

import dataclasses
import statistics

from launch_tables import as_number

EXACT, RELATIVE, POINTS, PRINTED = "equal", "%", "points", "equal as printed"


@dataclasses.dataclass(frozen=True)
class Rule:
    """How a metric is compared.

    EXACT: the same number. PRINTED: the same in the digits that ncu prints. RELATIVE: per cent of ncu's figure, whose
    median may reach `limit`; where ncu's figure is below `near_zero`, where a per cent says nothing, the difference
    is taken in points of the metric's own unit instead, and only listed. POINTS: the difference in the metric's unit.
    """

    metric: str  # as ncu names it
    kind: str
    limit: float = 0.0
    near_zero: float = 0.0
    columns: tuple = ()  # as dlkprof's table names it, where otherwise

    @property
    def names(self):
        return self.columns or (self.metric,)


@dataclasses.dataclass(frozen=True)
class Deviation:
    program: str
    position: int  # of the launch in ncu's first table, from 0
    kernel: str
    metric: str
    kind: str  # of this deviation: POINTS for a RELATIVE rule near zero
    expected: float
    got: float
    value: float  # signed, in `kind`; 0 for equal figures of EXACT and PRINTED

    def over(self, limit):
        return abs(self.value) > limit


def deviate(rule, expected_text, got_text):
    """(kind, expected, got, value), or None where either figure is missing."""
    expected, got = as_number(expected_text), as_number(got_text)
    if expected is None or got is None:
        return None
    difference = got - expected
    if rule.kind == PRINTED and abs(difference) <= half_unit_of_last_digit(expected_text):
        difference = 0.0
    if rule.kind != RELATIVE:
        return rule.kind, expected, got, difference
    if abs(expected) < rule.near_zero or expected == 0:
        return POINTS, expected, got, difference
    return RELATIVE, expected, got, 100 * difference / expected


def half_unit_of_last_digit(text):
    digits = len(text.strip().partition(".")[2])
    return 0.5 * 10**-digits * (1 + 1e-6)


@dataclasses.dataclass(frozen=True)
class Summary:
    n: int
    median: float  # of the absolute deviations
    least: float  # signed
    greatest: float  # signed


def summarize(values):
    """None for no values."""
    values = list(values)
    if not values:
        return None
    return Summary(len(values), statistics.median(abs(value) for value in values), min(values), max(values))


def compare(rules, program, pairs):
    """(deviations, missing) over joined launches; `missing`: metric -> the launches in which a figure is absent."""
    deviations, missing = [], {}
    for reference, other in pairs:
        for rule in rules:
            outcome = deviate(rule, reference.text(rule.metric), other.text(*rule.names))
            if outcome is None:
                missing[rule.metric] = missing.get(rule.metric, 0) + 1
                continue
            deviations.append(Deviation(program, reference.position, reference.mangled, rule.metric, *outcome))
    return deviations, missing


@dataclasses.dataclass(frozen=True)
class Finding:
    """What all deviations of a rule come to."""

    rule: Rule
    main: Summary | None  # in the rule's own kind
    near: Summary | None  # in points, near zero
    missing: int
    passed: bool


def by_kernel(deviations):
    """One absolute deviation a kernel of a program, the median of its launches': a program that launches one tiny kernel
    twenty times shall not outweigh all others."""
    kernels = {}
    for deviation in deviations:
        kernels.setdefault((deviation.program, deviation.kernel), []).append(abs(deviation.value))
    return [statistics.median(values) for values in kernels.values()]


def judge(rule, deviations, missing):
    own = [d for d in deviations if d.metric == rule.metric]
    main = summarize(d.value for d in own if d.kind == rule.kind)
    near = summarize(d.value for d in own if d.kind != rule.kind)
    in_kind = [d for d in own if d.kind == rule.kind]
    passed = bool(own) and missing == 0 and _within(rule, main, in_kind)
    return Finding(rule, main, near, missing, passed)


def _within(rule, summary, deviations):
    if summary is None:  # every figure lies near zero
        return True
    if rule.kind in (EXACT, PRINTED):
        return summary.least == 0 and summary.greatest == 0
    return statistics.median(by_kernel(deviations)) <= rule.limit
