"""Compares DLProf's reports with the guide's tables, and with figures computed independently."""

import csv
import json
import math
import statistics

from guide_columns import COLUMNS, SUMMARY_COLUMNS, SUMMARY_ROWS
from harness import EndToEndTest
from independent import union
from independent_figures import Figures

REPORTS = ("summary", "detail", "iteration", "kernel", "tensor", "op_type", "group_node")
FORMATS = ("csv", "json")
OF_PYTORCH = ("Direction", "Stack Trace")


class Reports:
    """The files of one run of dlkprof: the rows of a report by its name, and the tables of the summary."""

    def __init__(self, folder):
        self.folder = folder
        documents = {name: json.loads(self.path(name, "json").read_text(encoding="utf-8")) for name in REPORTS}
        self.summary = documents["summary"]["tables"]
        self.rows = {name: documents[name]["rows"] for name in REPORTS[1:]}

    def path(self, report, form):
        return self.folder / f"dlkprof_{report}.{form}"

    def table(self, report):
        """The csv: columns, and rows of text."""
        with open(self.path(report, "csv"), newline="", encoding="utf-8") as file:
            columns, *rows = csv.reader(file)
        return columns, rows


def op_of(row):
    return row["Op Name"], row.get("Direction") or "", row["Op Type"]


def as_csv(cell):
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def call_time(work):
    """A call's time counts once, at the first work that it caused."""
    return work.call.end - work.call.start if work.call and work.call.works[0] is work else None


def cpu_time(instances):
    """What ranges cover on each thread, and calls outside of all ranges."""
    ranges = {}
    for instance in instances:
        if instance.range is not None:
            ranges.setdefault(instance.range.thread, []).append((instance.start, instance.end))
    outside = sum(instance.cpu_ns for instance in instances if instance.range is None)
    return outside + sum(union(spans) for spans in ranges.values())


class FiguresTestCase(EndToEndTest):
    def write_reports(self, source, *options, folder="out"):
        wanted = [f"--reports={','.join(REPORTS)}", f"--formats={','.join(FORMATS)}", f"--output_path={folder}"]
        done = self.dlkprof(f"--database={source}", *wanted, *options)
        self.assertEqual(0, done.code, done.stderr)

    def reports(self, source, *options, folder="out"):
        (self.folder / folder).mkdir(exist_ok=True)
        self.write_reports(source, *options, "--force", folder=folder)
        return Reports(self.folder / folder)

    def check(self, reports, fold, first=None, last=None):
        """Every figure of the reports that can be had from raw records."""
        figures = Figures(fold, first, last)
        self.check_columns(reports, fold)
        self.check_formats_agree(reports)
        self.check_iteration(reports, figures)
        self.check_detail(reports, figures)
        self.check_kernel(reports, figures)
        self.check_op_type(reports, figures)
        self.check_tensor(reports, figures)
        self.check_group_node(reports, figures)
        self.check_summary(reports, figures)
        self.check_sums(reports, figures)
        return figures

    def check_stats(self, row, what, values):
        total, mean, *extremes = [row[f"{name} {what} Time (ns)"] for name in ("Total", "Avg.", "Min", "Max")]
        if values:
            self.assertEqual([sum(values), min(values), max(values)], [total, *extremes], (row, what))
            self.assertTrue(math.isclose(statistics.fmean(values), mean, rel_tol=1e-12), (row, what))
        else:
            self.assertEqual([None] * 4, [total, mean, *extremes], (row, what))

    def check_columns(self, reports, fold):
        frameworks = {range.marker.framework for range in fold.timeline.ranges}
        for report, columns in COLUMNS.items():
            if not frameworks & {"pytorch", "dlkprof"}:
                columns = [column for column in columns if column not in OF_PYTORCH]
            found, rows = reports.table(report)
            self.assertEqual(columns, found[: len(columns)], report)
            self.assertEqual(len(set(found)), len(found), report)
            self.assertEqual({len(found)} if rows else set(), {len(row) for row in rows}, report)
        for table, rows in SUMMARY_ROWS.items():
            found = list(reports.summary[table])
            self.assertEqual(rows, found[: len(rows)], table)
        for table, columns in SUMMARY_COLUMNS.items():
            self.assertEqual([columns] * 4, [list(line) for line in reports.summary[table].values()], table)

    def check_formats_agree(self, reports):
        for report, rows in reports.rows.items():
            columns, texts = reports.table(report)
            self.assertEqual(len(rows), len(texts), report)
            for row, cells in zip(rows, texts):
                self.assertEqual(columns, list(row), report)
                for cell, text in zip(row.values(), cells):
                    if isinstance(cell, float):
                        self.assertEqual(cell, float(text), (report, row))
                    else:
                        self.assertEqual(as_csv(cell), text, (report, row))

    def check_iteration(self, reports, figures):
        op_ids = {}
        found = []
        for row in reports.rows["iteration"]:
            self.assertEqual(op_of(row), op_ids.setdefault(row["Op ID"], op_of(row)))
            grid = [row[f"{what} {axis}"] for what in ("Grid", "Block") for axis in "XYZ"]
            found.append((
                row["Iteration"], op_of(row), row["Kernel Name"], row["Long Kernel Name"], row["Device ID"],
                row["GPU Start Time (ns)"], row["GPU Time (ns)"], row["API Call Start (ns)"], row["API Call Time (ns)"],
                row["Uses TC"], *grid,
            ))  # fmt: skip
        expected = [(
            work.iteration, work.instance.op, work.kernel_name, work.long_name, work.device,
            work.start, None if work.start is None else work.gpu_ns,
            work.call and work.call.start, call_time(work), work.uses_tc, *work.grid,
        ) for work in figures.works]  # fmt: skip
        self.assertEqual(len(expected), len(found))
        for pair in zip(sorted(expected, key=repr), sorted(found, key=repr)):
            self.assertEqual(*pair)
        self.assertEqual(len(op_ids), len(set(op_ids.values())))

    def check_detail(self, reports, figures):
        rows = {op_of(row): row for row in reports.rows["detail"]}
        self.assertEqual(len(rows), len(reports.rows["detail"]))
        self.assertEqual(len(rows), len({row["Op ID"] for row in rows.values()}))
        expected = figures.by_op()
        self.assertEqual(sorted(expected), sorted(rows))
        for op, its in expected.items():
            row = rows[op]
            self.assertEqual(its.calls, row["No. Calls"], op)
            self.assertEqual(any(work.uses_tc for work in its.works), row["Using TC"], op)
            for what, values in (("CPU", its.cpu), ("GPU", its.gpu), ("CPU Overhead", its.overhead),
                                 ("GPU Idle", its.idle), ("Mapped GPU", its.mapped)):  # fmt: skip
                self.check_stats(row, what, values)
        times = [(row["Total GPU Time (ns)"], row["Total CPU Time (ns)"]) for row in reports.rows["detail"]]
        self.assertEqual(sorted(times, reverse=True), times)

    def check_kernel(self, reports, figures):
        ops = {row["Op ID"]: op_of(row) for row in reports.rows["detail"]}
        rows = {(row["Long Kernel Name"], ops[row["Op ID"]]): row for row in reports.rows["kernel"]}
        self.assertEqual(len(rows), len(reports.rows["kernel"]))
        expected = figures.by_kernel()
        self.assertEqual(sorted(expected), sorted(rows))
        for kernel, its in expected.items():
            row = rows[kernel]
            self.assertEqual((its.works[0].kernel_name, kernel[1][0]), (row["Kernel Name"], row["Op Name"]))
            self.assertEqual(any(work.uses_tc for work in its.works), row["Uses TC"], kernel)
            self.check_stats(row, "GPU", its.gpu)
            self.check_stats(row, "API", its.api)

    def check_op_type(self, reports, figures):
        rows = {row["Op Name"]: row for row in reports.rows["op_type"]}
        self.assertEqual(len(rows), len(reports.rows["op_type"]))
        expected = figures.by_type()
        self.assertEqual(sorted(expected), sorted(rows))
        ops = list(figures.by_op())
        for kind, its in expected.items():
            row = rows[kind]
            self.assertEqual(sum(op[2] == kind for op in ops), row["No. Nodes"], kind)
            self.assertEqual(its.calls, row["No. Calls"], kind)
            self.assertEqual(any(work.uses_tc for work in its.works), row["Using TC"], kind)
            for what, values in (("CPU", its.cpu), ("GPU", its.gpu), ("CPU Overhead", its.overhead), ("GPU Idle", its.idle)):
                self.check_stats(row, what, values)

    def check_tensor(self, reports, figures):
        """Which ops can use tensor cores is taken from the detail report: it goes by a list of names."""
        ops = figures.by_op()
        rows = {op_of(row): row for row in reports.rows["tensor"]}
        wanted = {op_of(row) for row in reports.rows["detail"] if row["TC Eligibility"] or row["Using TC"]}
        wanted = {op for op in wanted if ops[op].works}
        self.assertEqual(wanted, set(rows))
        for op, row in rows.items():
            works = ops[op].works
            tensor, others = ([work for work in works if work.uses_tc == uses] for uses in (True, False))
            times = [sum(work.gpu_ns for work in some) for some in (works, tensor, others)]
            self.assertEqual(times, [row[f"{what}GPU Time"] for what in ("Total ", "TC ", "Non-TC ")], op)
            counts = [len({work.long_name for work in some}) for some in (works, tensor, others)]
            self.assertEqual(counts, [row[f"{what} Kernel Count"] for what in ("Total", "TC", "Non-TC")], op)
            share = row["TC Utilization (%)"]
            self.assertTrue(share is None if times[0] == 0 else math.isclose(100 * times[1] / times[0], share), row)
            for what, some in (("TC", tensor), ("Non-TC", others)):
                names = row[f"{what} Kernel Names"] or ""
                self.assertTrue(all(work.kernel_name in names for work in some), row)

    def check_group_node(self, reports, figures):
        rows = {row["Name"]: row for row in reports.rows["group_node"]}
        expected = figures.by_group()
        self.assertEqual(sorted(expected), list(rows))
        for name, its in expected.items():
            self.assertEqual(its.calls, rows[name]["No. Calls Aggregated"], name)
            self.check_stats(rows[name], "CPU", its.cpu)
            self.check_stats(rows[name], "GPU", its.gpu)

    def check_summary(self, reports, figures):
        times = figures.iteration_times()
        iterations = list(reports.summary["Iterations"].values())
        found = figures.iterations if figures.fold.ends else 0
        self.assertEqual([found, len(times), figures.first, figures.last], iterations[:4])
        self.assertTrue(math.isclose(statistics.fmean(times), iterations[4]))
        if len(times) > 1:
            self.assertTrue(math.isclose(statistics.stdev(times), iterations[5], abs_tol=1e-6))
        else:
            self.assertIsNone(iterations[5])
        table = reports.summary["Summary Report"]
        self.assertEqual(sum(times), table["Wall Clock Time (ns)"])
        names = ("GPU Utilization", "Tensor Core Kernel Duration", "Non-Tensor Core Kernel Duration", "Memory Duration")
        for share, name in zip(figures.gpu_shares(), names):
            self.assertTrue(math.isclose(share, table[name + " %"], abs_tol=1e-9), (name, share, table))
        self.check_all_ops(reports, figures)
        self.check_all_kernels(reports, figures)

    def check_all_ops(self, reports, figures):
        """Ops that launched anything."""
        ops = figures.by_op()
        rows = [row for row in reports.rows["detail"] if ops[op_of(row)].works]
        tensor = [row for row in rows if row["Using TC"]]
        without = [row for row in rows if row["TC Eligibility"] and not row["Using TC"]]
        others = [row for row in rows if not row["TC Eligibility"] and not row["Using TC"]]
        for some, line in zip((rows, tensor, without, others), reports.summary["All Ops"].values()):
            names = {op_of(row) for row in some}
            cpu_ns = cpu_time([instance for instance in figures.instances if instance.op in names])
            self.assertEqual([sum(row["Total GPU Time (ns)"] or 0 for row in some), cpu_ns, len(some)], list(line.values()))

    def check_all_kernels(self, reports, figures):
        """A kernel uses tensor cores where any of its launches does."""
        names = {work.long_name for work in figures.works if work.kind == 0 and work.uses_tc}
        tensor = [work for work in figures.works if work.kind == 0 and work.long_name in names]
        memory = [work for work in figures.works if work.kind != 0]
        others = [work for work in figures.works if work.kind == 0 and work.long_name not in names]
        for works, line in zip((figures.works, tensor, memory, others), reports.summary["All Kernels"].values()):
            first = [work for work in works if work.call is not None and work.call.works[0] is work]
            gpu_ns, cpu_ns = sum(work.gpu_ns for work in works), sum(work.call.end - work.call.start for work in first)
            expected = [gpu_ns, cpu_ns if first or not works else None, len({work.long_name for work in works})]
            self.assertEqual(expected, list(line.values()))

    def check_sums(self, reports, figures):
        """All that GPUs did, however it is cut."""
        columns = {"detail": "Total GPU Time (ns)", "op_type": "Total GPU Time (ns)", "kernel": "Total GPU Time (ns)",
                   "iteration": "GPU Time (ns)"}  # fmt: skip
        sums = {report: sum(row[column] or 0 for row in reports.rows[report]) for report, column in columns.items()}
        self.assertEqual(dict.fromkeys(columns, figures.gpu_ns), sums)
        self.assertEqual(figures.gpu_ns, reports.summary["All Ops"]["All Op"]["GPU Time (ns)"])
        self.assertEqual(figures.gpu_ns, reports.summary["All Kernels"]["All Kernels"]["GPU Time (ns)"])
