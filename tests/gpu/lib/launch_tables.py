"""Tables of measured launches, as ncu's raw page and dlkprof's metrics report write them, and joining the two."""

import csv
import dataclasses
import difflib
import math
import re

from harness import check


@dataclasses.dataclass(frozen=True)
class Launch:
    """One row: which launch it was, and its columns as text under plain names (see `plain_name`)."""

    position: int  # in its table, from 0
    mangled: str
    grid: tuple
    block: tuple
    columns: dict
    headings: dict = dataclasses.field(default_factory=dict)  # plain name -> as it is spelled in the table

    @property
    def key(self):
        return self.mangled, self.grid, self.block

    def text(self, *names):
        """The first of these columns that holds something, or None."""
        for name in names:
            value = self.columns.get(plain_name(name), "")
            if value != "":
                return value
        return None

    def number(self, *names):
        """The same as a number; None where it is absent or none."""
        return as_number(self.text(*names))


def without_unit(heading):
    return re.sub(r"\s*[\[(][^\])]*[\])]\s*$", "", heading.strip())


def plain_name(heading):
    """A column's heading without its unit and the accidents of spelling: 'Kernel Name', 'cost_ns [ns]'."""
    return without_unit(heading).lower().replace(" ", "_").replace("-", "_")


def as_number(text):
    """'1,234.5' and '12' as ncu and dlkprof write them; None for anything that is not a finite number."""
    if text is None:
        return None
    try:
        value = float(text.replace(",", "").strip())
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def parse_launches(text):
    """The launches in a CSV text, in its order.

    What stands before the heading (the program's own output, ncu's messages) and rows with no ID (ncu's units) are
    passed over. No heading, no launches: ncu prints none where it measured nothing.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if _is_heading(line)), None)
    if start is None:
        return []
    rows = csv.reader(lines[start:])
    spelled = [without_unit(heading) for heading in next(rows)]
    headings = [plain_name(heading) for heading in spelled]
    spellings = dict(zip(headings, spelled))
    launches = []
    for row in rows:
        # The first of two columns of one plain name counts: dlkprof has 'Grid Size', and grid_size in blocks after it.
        columns = dict(reversed(list(zip(headings, row))))
        if len(row) == len(headings) and columns["id"].strip().isdigit():
            launches.append(_launch(len(launches), columns, spellings))
    return launches


def _is_heading(line):
    words = [plain_name(word) for word in next(csv.reader([line]), [])]
    return len(words) > 2 and words[0] == "id" and "kernel_name" in words


def _launch(position, columns, headings):
    # ncu is told to print mangled names under 'Kernel Name'; dlkprof has a column for them.
    mangled = columns.get("mangled_name") or columns["kernel_name"]
    return Launch(position, mangled, dimensions(columns["grid_size"]), dimensions(columns["block_size"]), columns, headings)


def dimensions(text):
    """'(64, 1, 1)', '64x1x1', '64': always three."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return tuple((numbers + [1, 1, 1])[:3])


@dataclasses.dataclass(frozen=True)
class Joined:
    pairs: list  # (reference, other)
    only_reference: list
    only_other: list


def join(reference, other):
    """Pairs launches of two tables by kernel, grid, block and order; what has no partner is kept apart."""
    matcher = difflib.SequenceMatcher(
        None, [launch.key for launch in reference], [launch.key for launch in other], autojunk=False
    )
    joined = Joined([], [], [])
    for tag, first, first_end, second, second_end in matcher.get_opcodes():
        if tag == "equal":
            joined.pairs.extend(zip(reference[first:first_end], other[second:second_end]))
        else:
            joined.only_reference.extend(reference[first:first_end])
            joined.only_other.extend(other[second:second_end])
    return joined


def cost_words(launches, seconds, alone_seconds):
    """What measuring them cost, of the whole process and of that alone, which took so many seconds."""
    costs = [launch.number("cost_ns") for launch in launches]
    check(costs and all(costs), "launches without a cost")
    return (
        f"{len(launches)} launches of {len({launch.key for launch in launches})} configurations, "
        f"{max(launch.number('passes') for launch in launches):.0f} passes: {sum(costs) / 1e9:.2f} s in all, "
        f"{sum(costs) / len(costs) / 1e6:.3f} ms a launch; whole process {seconds:.1f} s, {alone_seconds:.1f} s alone"
    )
