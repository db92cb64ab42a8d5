"""The steady range once more, from where iterations begin: docs/user/ops-and-iterations.md's words in Python, sharing no code with dlkprof."""

import statistics


def _quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def _fences(values, ranges):
    lower, median, upper = _quartiles(values)
    width = max(ranges * (upper - lower), median / 10)
    return lower - width, upper + width


def _standard_error(values):
    return statistics.pvariance(values) / len(values)


def _leading(values):
    """How many at the beginning are not like the rest."""
    if len(values) < 3:
        return 0
    low, high = _fences(values, 1.5)
    calmed = [min(max(value, low), high) for value in values]
    candidates = range(min(len(values) // 2, len(values) - 2) + 1)
    proposed = min(candidates, key=lambda n: (_standard_error(calmed[n:]), n))
    low, high = _fences(values[proposed:], 3)
    outside = [not low <= value <= high for value in values[:proposed]]
    return max((n for n in range(1, proposed + 1) if outside[n - 1] and 2 * sum(outside[:n]) > n), default=0)


def steady_range(ends):
    """First and last iteration, of those that these ends of the key node make."""
    if len(ends) < 2:
        return 0, len(ends)
    lengths = [end - start for start, end in zip(ends, ends[1:])]
    first = _leading(lengths)
    last = len(lengths) - _leading(lengths[first:][::-1])
    return first + 1, last
