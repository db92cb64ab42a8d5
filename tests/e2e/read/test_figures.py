"""DLProf's reports of a marked program and of the captures that ship with dlkprof, checked figure by figure."""

import contextlib
import sqlite3
import struct
import subprocess

from figure_checks import FORMATS, REPORTS, FiguresTestCase
from harness import BUILD, LAUNCHES_OF_AN_ITERATION, METRICS, SOURCE
from independent import Fold, Timeline

STEPS = 4
PROGRAM = ("train:1", "capture:2", f"marked:{STEPS}")
DATABASE = "dlkprof_dldb.sqlite"


class MarkedProgramTest(FiguresTestCase):
    def profile_marked(self, *steps, options=("--replay-mode=none",), metrics=()):
        done = self.profile(*(steps or PROGRAM), options=options, metrics=metrics)
        self.assertEqual(0, done.code, done.stderr)
        self.assert_no_misuse()

    def fold(self, is_key=None, domains=None, default_ends=None):
        return Fold(Timeline(self.folder / DATABASE, domains), is_key, default_ends)

    def test_fourteen_files(self):
        self.profile_marked()
        self.write_reports(DATABASE)
        names = {path.name for path in (self.folder / "out").iterdir()}
        self.assertEqual({f"dlkprof_{report}.{form}" for report in REPORTS for form in FORMATS}, names)

    def test_every_figure(self):
        self.profile_marked()
        fold = self.fold()
        figures = self.check(self.reports(DATABASE), fold)
        self.assertEqual(STEPS, len(fold.ends))
        self.assertEqual({"fprop", "bprop", ""}, {direction for _, direction, _ in figures.by_op()})

    def test_launches_that_were_measured(self):
        """They have the duration that was measured, or else that of others of their configuration."""
        for metrics in (METRICS, METRICS[1:]):
            self.profile_marked(options=("--replay-mode=kernel", "--samples=2", "--force"), metrics=metrics)
            fold = self.fold()
            untimed = sum(work.start is None for work in fold.timeline.works)
            measured = len(self.capture().rows)
            # On a busy machine the fakes may still be at earlier work when a call ends in which a launch was replayed.
            self.assertLess(untimed, measured / 4)
            self.check(self.reports(DATABASE), fold)

    def test_several_gpus(self):
        """Half of the steps on each: two and two make two iterations, and what follows."""
        self.profile_marked("marked:2", "device:1", "marked:2", "train:1")
        fold = self.fold()
        self.assertEqual([0, 1], sorted(fold.timeline.devices))
        self.assertEqual(2, len(fold.ends))
        self.check(self.reports(DATABASE), fold)

    def test_iterations_without_markers(self):
        """An iteration begins with the first launch of a repetition."""
        self.profile_marked(f"train:{STEPS}")
        launches = [call.start for call in Timeline(self.folder / DATABASE).calls if call.name == "cuLaunchKernel"]
        fold = self.fold(default_ends=launches[:: len(LAUNCHES_OF_AN_ITERATION)])
        self.assertEqual(STEPS, len(fold.ends))
        self.check(self.reports(DATABASE), fold)

    def test_key_node(self):
        self.profile_marked()
        rows = self.reports(DATABASE).rows["detail"]
        for wanted in ("step/pass/loss", "Optimizer.step#SGD.step/aten::_foreach_add_", "aten::_log_softmax"):
            row = next(row for row in rows if row["Op Name"].endswith(wanted) and row["Direction"] != "bprop")
            for asked in (row["Op Name"], row["Op ID"]):
                fold = self.fold(lambda op: op == (row["Op Name"], row.get("Direction") or "", row["Op Type"]))
                self.assertEqual(STEPS, len(fold.ends))
                self.check(self.reports(DATABASE, f"--key_node={asked}"), fold)

    def test_iteration_range(self):
        self.profile_marked()
        for key_node, first, last in (
            ("", 1, 3),
            ("", 2, 2),
            ("", 0, STEPS),
            ("Optimizer.step#SGD.step/aten::_foreach_add_", 1, 2),
        ):
            fold = self.fold((lambda op: op[0].endswith(key_node)) if key_node else None)
            options = [f"--key_node=/step/{key_node}"] if key_node else []
            reports = self.reports(DATABASE, f"--iter_start={first}", f"--iter_stop={last}", *options)
            self.check(reports, fold, first, last)

    def test_domains(self):
        self.profile_marked()
        for asked, domains in (("default", [""]), ("app,default", ["", "app"])):
            self.check(self.reports(DATABASE, f"--domains={asked}"), self.fold(domains=domains))
        reports = self.reports(DATABASE, "--domains=app")  # marks no iterations: those found by repetition are taken over
        with contextlib.closing(sqlite3.connect(self.folder / DATABASE)) as connection:
            starts = [start for start, in connection.execute("SELECT start_ns FROM iterations ORDER BY iteration")]
        self.check(reports, self.fold(domains=["app"], default_ends=starts[1:]))

    def test_domains_that_no_range_is_in_are_told(self):
        self.profile_marked()
        words = ("--database", DATABASE, "--reports=summary", "--domains=app,no\x1bpe,default", "--output_path=out")
        done = self.dlkprof(*words)
        self.assertEqual(0, done.code, done.stderr)
        expected = "dlkprof: no range is in the NVTX domain no\\x1bpe: --domains\n  There are: app, default\n"
        self.assertEqual((0, 1), (done.stderr.find(expected), done.stderr.count("no range is in")), done.stderr)

    def test_iterations_add_up_to_the_whole(self):
        self.profile_marked()
        whole = self.reports(DATABASE, "--iter_start=0")
        single = [self.reports(DATABASE, f"--iter_start={i}", f"--iter_stop={i}") for i in range(STEPS + 1)]
        self.assertEqual(whole.rows["iteration"], sorted_by_start(row for part in single for row in part.rows["iteration"]))
        for report, key in (("detail", "Op ID"), ("op_type", "Op Name"), ("group_node", "Name")):
            for column in (name for name in whole.rows[report][0] if name.startswith(("Total", "No. Calls"))):
                expected = {row[key]: row[column] for row in whole.rows[report]}
                self.assertEqual(expected, sums(single, report, key, column), (report, column))
        for column in ("Total GPU Time (ns)", "Total API Time (ns)"):
            expected = sums([whole], "kernel", "Op ID", column)
            self.assertEqual(expected, sums(single, "kernel", "Op ID", column), column)

    def test_capture_and_database_fold_alike(self):
        self.profile_marked(
            options=(
                "--replay-mode=kernel",
                "--samples=2",
            ),
            metrics=METRICS,
        )
        for options in ([], ["--key_node=/step/pass/loss"], ["--iter_start=1", "--iter_stop=2"], ["--domains=default"]):
            captured = self.reports("dlkprof.dlkcap", *options, folder="captured")
            stored = self.reports(DATABASE, *options, folder="stored")
            for report in REPORTS[1:]:
                pair = [reports.path(report, "csv").read_bytes() for reports in (captured, stored)]
                self.assertEqual(*pair, (report, options))
            self.assertEqual(stored.summary, {name: captured.summary[name] for name in stored.summary}, options)


def sorted_by_start(rows):
    return sorted(rows, key=lambda row: (row["GPU Start Time (ns)"], row["API Call Start (ns)"]))


def sums(parts, report, key, column):
    """By `key` the sums over all rows of a report."""
    found = {}
    for row in (row for part in parts for row in part.rows[report]):
        found[row[key]] = found.get(row[key], 0) + (row[column] or 0)
    return found


def is_sampled(database):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT count(*) FROM sampled_metrics").fetchone()[0] > 0


class SamplesTest(FiguresTestCase):
    def test_every_figure_of_the_captures_that_ship(self):
        checked = []
        for capture in sorted((SOURCE / "samples/captures").glob("*.dlkcap")):
            with self.subTest(capture=capture.name):
                if not has_ranges(capture):
                    print(f"{capture.name} was recorded without a timeline: there is nothing to compare")
                    continue
                database = self.folder / f"{capture.stem}.sqlite"
                subprocess.run([BUILD / "bin/capture_database", database, capture], check=True)
                if is_sampled(database):
                    continue  # whether a sampled kernel uses tensor cores is a question of statistics, with tests of its own
                self.check(self.reports(capture), Fold(Timeline(database)))
                checked.append(capture.name)
        self.assertNotEqual([], checked, "no capture that ships has ranges")


def has_ranges(capture):
    """Whether it holds a record of NVTX ranges (include/dlkprof/capture_format.h)."""
    content = capture.read_bytes()
    position, events, ranges = 16, 11, 1
    while position + 20 < len(content):
        kind, length = struct.unpack_from("<4xH2xI", content, position)
        if kind == events and content[position + 20] == ranges:
            return True
        position += 20 + length
    return False
