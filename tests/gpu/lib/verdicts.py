"""What dlkprof's reports say of the kernels of a program that was profiled."""

import csv
import dataclasses
import io

from harness import check
from launch_tables import as_number, dimensions

REPORTS = ("bottleneck", "expert_systems", "occupancy", "stall", "memory", "tensor", "roofline")


@dataclasses.dataclass(frozen=True)
class Verdicts:
    """Rows of each report by its name, cells by their heading."""

    reports: dict

    def kernel(self, report, name):
        """The row of a kernel in a report of ops and kernels; empty where it has none."""
        rows = (row for row in self.reports[report] if row.get("Kernel Name") == name)
        return next(rows, {})

    def number(self, report, kernel, heading):
        return as_number(self.kernel(report, kernel).get(heading))

    def findings(self, kernel):
        """Rules of the expert system that found something in this kernel: (rule, problem)."""
        return {row["Rule"]: row["Problem"] for row in self.reports["expert_systems"] if row["Where"] == kernel}

    def tensor_op(self, kernel):
        """The row of `tensor` whose op runs the kernel."""
        rows = (
            row
            for row in self.reports["tensor"]
            if kernel in row["TC Kernel Names"].split("; ") + row["Non-TC Kernel Names"].split("; ")
        )
        return next(rows, {})

    def rows(self, report, kernel):
        return [row for row in self.reports[report] if row.get("Kernel Name") == kernel]

    def configurations(self):
        """Occupancy by kernel, grid and block."""
        return {
            (row["Kernel Name"], dimensions(row["Grid Size"]), dimensions(row["Block Size"])): row
            for row in self.reports["occupancy"]
        }


def read_table(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_verdicts(folder, name, reports=REPORTS):
    """From the files that a profile wrote under --reports and --formats=csv."""
    tables = {}
    for report in reports:
        path = folder / f"{name}_{report}.csv"
        check(path.exists(), f"{path.name} was not written")
        tables[report] = read_table(path.read_text(errors="replace"))
    return Verdicts(tables)
