"""Samples by instruction and line: dlkprof's report `source`, ncu's source page, and how far they are apart."""

import collections
import csv
import dataclasses

from harness import check

SAMPLES, TEXT, ADDRESS, STALL = "Warp Stall Sampling (All Samples)", "Source", "Address", "stall_"
INSTRUCTION_BYTES = 16  # from sm_70 on


@dataclasses.dataclass
class Instruction:
    offset: int
    text: str
    samples: float
    top: str = ""  # the stall reason with most samples, issue itself aside
    stalls: dict = dataclasses.field(default_factory=collections.Counter)  # samples by ncu's short reason
    file: str = ""
    line: int = 0  # 0: not known


def as_count(text):
    text = (text or "").replace(",", "")
    return float(text) if text else 0.0


def parse_source_page(text):
    """The instructions of all launches of one kernel that `ncu --page source --print-source sass --csv` prints, added up."""
    found, headings, first = {}, None, 0
    for row in csv.reader(text.splitlines()):
        if SAMPLES in row and TEXT in row:
            headings, first = row, None
        elif headings and len(row) == len(headings):
            cells = dict(zip(headings, row))
            offset = offset_of(cells, first, found)
            first = offset[1]
            add_launch(found, offset[0], cells)
    check(found, f"ncu's source page has no table with {SAMPLES!r}: {text[:200]!r}")
    return list(found.values())


def offset_of(cells, first, found):
    """(Bytes from the function's start, the address of its first instruction)."""
    address = int(cells[ADDRESS], 0) if cells.get(ADDRESS, "").lower().startswith("0x") else None
    if address is None:  # by position, where the table has no addresses
        return (INSTRUCTION_BYTES * len(found), first)
    first = address if first is None else first
    return address - first, first


def add_launch(found, offset, cells):
    one = found.setdefault(offset, Instruction(offset, " ".join(cells[TEXT].split()).rstrip(" ;"), 0))
    one.samples += as_count(cells[SAMPLES])
    for name, count in cells.items():
        if name.startswith(STALL) and name.isidentifier() and name != f"{STALL}selected":  # not "stall_wait (Not Issued)"
            one.stalls[name.removeprefix(STALL)] += as_count(count)


def instructions_of(rows, kernel):
    """Those of a kernel in the rows of dlkprof's report `source`."""
    return [
        Instruction(
            int(row["SASS Offset"]),
            " ".join(row["SASS"].split()),
            float(row["PC Samples"]),
            row["Top Stall Reason"],
            file=row["Source File"],
            line=int(row["Source Line"] or 0),
        )
        for row in rows
        if row["Kernel Name"] == kernel
    ]


def opcode(text):
    """LDG of "@!P0 LDG.E R2, [R4]": what follows the dot differs between versions of the disassembler."""
    return next((word for word in text.split() if not word.startswith("@")), "").partition(".")[0]


def shares(instructions, place_of):
    total = sum(one.samples for one in instructions)
    sums = collections.Counter()
    for one in instructions:
        sums[place_of(one)] += 100 * one.samples / total
    return sums


def apart(ours, theirs, hottest=10):
    """(the largest difference in points, its place) over the hottest places of either."""
    places = {place for sums in (ours, theirs) for place, _ in sums.most_common(hottest)}
    return max((abs(ours[place] - theirs[place]), place) for place in places)
