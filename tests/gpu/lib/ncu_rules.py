"""What ncu's own rules say of each kernel, from the CSV of its details page."""

import csv
import dataclasses
import re

from launch_tables import as_number, plain_name

# Rules that name a bottleneck; INF ones describe the kernel, and say for instance that nothing is wrong.
NAMING = ("OPT", "WRN")
MOST_LETTERS = 140


@dataclasses.dataclass(frozen=True)
class RuleResult:
    kernel: str
    rule: str  # "SharedMemoryConflicts"
    kind: str  # "OPT"
    text: str
    speedup: float | None  # ncu's estimate, in per cent

    @property
    def names_a_bottleneck(self):
        return self.kind in NAMING

    def in_words(self):
        estimate = "" if self.speedup is None else f", est. {self.speedup:.0f} %"
        return f"{self.rule} ({self.kind}{estimate}): {first_words(self.text)}"


def parse_rules(text):
    """The rule results in the order of the page; none where there is no table."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"') and "Rule Name" in line), None)
    if start is None:
        return []
    rows = csv.reader("\n".join(lines[start:]).splitlines())
    headings = [plain_name(heading) for heading in next(rows)]
    results = []
    for row in rows:
        columns = dict(zip(headings, row))
        if len(row) == len(headings) and columns.get("rule_name"):
            results.append(
                RuleResult(
                    columns["kernel_name"],
                    columns["rule_name"],
                    columns["rule_type"],
                    columns["rule_description"],
                    as_number(columns.get("estimated_speedup")),
                )
            )
    return results


def bottlenecks(results, kernel):
    """Those of one kernel that name a bottleneck, largest estimate first; each rule's first result."""
    first = {}
    for result in results:
        if result.kernel == kernel and result.names_a_bottleneck:
            first.setdefault((result.rule, result.text), result)
    return sorted(first.values(), key=lambda result: -(result.speedup or 0))


def first_words(text):
    """The first sentence without ncu's links, and no longer than a table bears."""
    plain = re.sub(r"@(?:url|section|source|metric|sass):([^:@]*):[^@]*@", r"\1", text)
    plain = " ".join(plain.split())
    sentence = re.split(r"(?<=[a-z%)])\. ", plain, maxsplit=1)[0].rstrip(".")
    return sentence if len(sentence) <= MOST_LETTERS else f"{sentence[:MOST_LETTERS - 3].rstrip()}..."
