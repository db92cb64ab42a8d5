"""The reports that diagnose: of the captures that ship with dlkprof, beside the raw tables of a database, and of a profile."""

import collections
import contextlib
import csv
import io
import json
import math
import sqlite3
import statistics
import subprocess
import xml.etree.ElementTree

from harness import BUILD, SOURCE, EndToEndTest

REPORTS = ("expert_systems", "bottleneck", "occupancy", "stall", "memory", "roofline", "occupancy_curves")
CAPTURES = ("cifar10_b4", "cifar10_b512")
# Of the iterations aggregated.
WORKS = (
    "activity JOIN placement p ON p.activity = activity.id JOIN aggregation a ON a.id = p.aggregation "
    "WHERE p.iteration BETWEEN a.first_iteration AND a.last_iteration AND activity.config IS NOT NULL"
)


class ShippedCaptures(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.paths = {name: SOURCE / f"samples/captures/{name}.dlkcap" for name in CAPTURES}

    def rows(self, source, report, *options):
        return self.report_json(source, f"--reports={report}", *options)

    def database(self, name):
        path = self.folder / f"{name}.sqlite"
        subprocess.run([BUILD / "bin/capture_database", path, self.paths[name]], check=True)
        return path


class ShippedFormsTest(ShippedCaptures):
    """The same rows in every form, and from every file."""

    def test_csv_and_json_say_the_same_and_nothing_is_no_number(self):
        for path in self.paths.values():
            for report in REPORTS:
                done = self.report(path, "--format=csv", f"--reports={report}")
                table = list(csv.reader(io.StringIO(done.stdout)))
                rows = self.rows(path, report)
                self.assertEqual(len(rows) + 1, len(table), report)
                for row, cells in zip(rows, table[1:]):
                    for cell, text in zip(row.values(), cells):
                        self.assertNotIn(text.lower(), ("nan", "inf", "-nan", "-inf"), report)
                        self.assertEqual(cell is None, text == "", (report, cell, text))
                        if isinstance(cell, float):
                            self.assertEqual(cell, float(text))

    def test_a_database_gives_what_its_capture_gives(self):
        for name, path in self.paths.items():
            database = self.database(name)
            for report in REPORTS:
                self.assertEqual(self.rows(path, report), self.rows(database, report), report)


class ShippedDiagnosisTest(ShippedCaptures):
    """Figures agree with one another, and with the database."""

    def test_occupancy_agrees_with_the_launches(self):
        for name in CAPTURES:
            database = self.database(name)
            with contextlib.closing(sqlite3.connect(database)) as connection:
                launches = connection.execute(f"SELECT config, count(*), sum(end_ns - start_ns) FROM {WORKS} GROUP BY config")
                expected = {config: (count, time) for config, count, time in launches}
            rows = self.rows(database, "occupancy")
            self.assertEqual(expected, {row["Config"]: (row["Launches"], row["Total GPU Time (ns)"]) for row in rows})
            for row in rows:
                blocks = math.prod(int(extent) for extent in row["Grid Size"].strip("()").split(","))
                self.assertAlmostEqual(max(0, 100 * (1 - blocks / 132)), row["Idle SMs (%)"])
                waves = row["Waves Per SM"]
                if waves < 1:
                    self.assertIsNone(row["Tail Effect (%)"])
                else:
                    self.assertAlmostEqual(100 * (1 - waves / math.ceil(waves)), row["Tail Effect (%)"])
                if row["Occupancy After Step (%)"] is not None:
                    self.assertGreater(row["Occupancy After Step (%)"], row["Theoretical Occupancy (%)"])

    def test_occupancy_agrees_with_the_report_of_launches(self):
        for path in self.paths.values():
            names = ("Grid Size", "Block Size", "Achieved Occupancy (%)", "Theoretical Occupancy (%)")
            found = [
                tuple(row[name] for name in names)
                for row in self.rows(path, "occupancy", "--iter_start=0")
                if row["Samples Measured"]
            ]
            names = ("Grid Size", "Block Size", "sm__warps_active.avg.pct_of_peak_sustained_active", "theoretical_occupancy_pct")
            launches = [tuple(row[name] for name in names) for row in self.rows(path, "metrics")]
            self.assertEqual(sorted(launches), sorted(found))

    def test_bounds_are_part_of_what_there_is(self):
        for path in self.paths.values():
            summary = json.loads(self.report(path, "--format=json", "--reports=summary").stdout)["tables"]
            wall = summary["Summary Report"]["Wall Clock Time (ns)"]
            iterations = summary["Iterations"]["Aggregated Iterations"]
            for row in self.rows(path, "bottleneck"):
                bound = row["Savings Bound (ns/iteration)"]
                self.assertEqual(row["Verdict"] is None, bound is None)
                if bound is None:
                    continue
                self.assertAlmostEqual(bound * iterations / wall * 100, row["Savings Bound (%)"])
                most = wall if row["Verdict"] == "launch-bound" else row["Total GPU Time (ns)"]
                self.assertLessEqual(0, bound)
                self.assertLessEqual(bound * iterations, min(most, wall) * (1 + 1e-12), row)

    def test_stall_shares_are_of_the_whole(self):
        for path in self.paths.values():
            shares = collections.defaultdict(float)
            kernels = collections.defaultdict(set)  # an op may launch several of one short name, told apart by their times
            for row in self.rows(path, "stall"):
                shares[row["Op ID"], row["Kernel Name"]] += row["Share (%)"]
                kernels[row["Op ID"], row["Kernel Name"]].add(row["Total GPU Time (ns)"])
            self.assertTrue(shares)
            for key, share in shares.items():
                self.assertAlmostEqual(100 * len(kernels[key]), share)

    def test_memory_agrees_with_the_database(self):
        """Bytes of all ops: of each measured configuration the mean of its samples, times its launches."""
        for name in CAPTURES:
            database = self.database(name)
            with contextlib.closing(sqlite3.connect(database)) as connection:
                samples = connection.execute(
                    "SELECT config, value FROM measured JOIN metric ON metric.id = metric WHERE name = 'dram__bytes.sum'"
                ).fetchall()
                launches = dict(connection.execute(f"SELECT config, count(*) FROM {WORKS} GROUP BY config"))
            expected = sum(
                statistics.fmean(value for other, value in samples if other == config) * launches.get(config, 0)
                for config in {config for config, _ in samples}
            )
            rows = self.rows(database, "memory")
            for level in ("op", "kernel"):
                found = sum(row["DRAM Bytes"] for row in rows if row["Level"] == level)
                self.assertTrue(math.isclose(expected, found, rel_tol=1e-12), (expected, found))

    def test_findings(self):
        found = {name: [row["Rule"] for row in self.rows(path, "expert_systems")] for name, path in self.paths.items()}
        both = {"amp", "cudnn_benchmark", "layout_transposes", "batch_size"}
        for rules in found.values():
            self.assertLessEqual(both, set(rules))
        self.assertLessEqual({"launch_bound", "small_grid", "gpu_underused"}, set(found["cifar10_b4"]))
        self.assertFalse(
            {"launch_bound", "gpu_underused", "dataloader", "nvtx_missing", "no_iterations"} & set(found["cifar10_b512"])
        )
        small = [row for row in self.rows(self.paths["cifar10_b512"], "expert_systems") if row["Rule"] == "small_grid"]
        self.assertEqual(1, len(small), small)
        self.assertIn("optimizer's foreach kernels", small[0]["Problem"])

    def test_figures_that_cannot_be_are_left_out(self):
        """Theoretical occupancy stands in every report of ops, and no share is above 100 %."""
        for path in self.paths.values():
            for report in ("detail", "kernel", "iteration", "op_type", "tensor", "memory"):
                rows = self.rows(path, report)
                if report != "memory":
                    self.assertTrue(any(row["Theoretical Occupancy (%)"] for row in rows), report)
                for row in rows:
                    for name, value in row.items():
                        if name.endswith("(%)") and isinstance(value, float):
                            self.assertLessEqual(value, 100.005, (report, name))
            marked = [row for row in self.rows(path, "measured") if row["Unreliable"]]
            self.assertTrue(marked)
            self.assertTrue(all(row["Max"] > 100 for row in marked))

    def test_stakes_fall(self):
        for path in self.paths.values():
            stakes = [row["Time At Stake (ns/iteration)"] for row in self.rows(path, "expert_systems")]
            known = [stake for stake in stakes if stake is not None]
            self.assertEqual(sorted(known, reverse=True) + [None] * (len(stakes) - len(known)), stakes)

    def test_a_section_that_was_not_measured_is_named(self):
        path = SOURCE / "tests/data/captures/cifar10_b512_kept.dlkcap"  # measured with --set basic
        for form in ("table", "csv", "json", "svg"):
            done = self.report(path, "--reports=roofline", f"--format={form}")
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)
            self.assertIn("--section roofline", done.stderr)
        self.assertEqual("", self.report(path, "--reports=stall").stderr)

    def test_every_report_has_rows_in_a_shipped_capture(self):
        paths = sorted((SOURCE / "samples/captures").glob("*.dlkcap"))
        for report in ("source", "sampling", "utilization", "roofline", *REPORTS):
            for path in paths:
                if self.rows(path, report):
                    break
            else:
                self.fail(f"no capture has a row of {report}")
        for path in self.paths.values():
            self.assertFalse([row for row in self.rows(path, "metrics") if row["Kernel Name"] is None])
            self.assertIn('class="p"', self.report(path, "--reports=roofline", "--format=svg").stdout)
            self.assertTrue(any(row["TC Precision"] for row in self.rows(path, "tensor")))

    def test_what_is_known_by_name_is_told_from_what_was_counted(self):
        """jax_mlp ran its kernels in a CUDA graph, so that their names alone say what used tensor cores."""
        for name, source in (("jax_mlp", "name"), ("cifar10_b512", "counter")):
            rows = [row for row in self.rows(SOURCE / f"samples/captures/{name}.dlkcap", "tensor") if row["Uses TC"]]
            self.assertTrue(rows)
            for row in rows:
                self.assertEqual(source, row["TC Source"], row["Op ID"])
                counted = row["TC Counted GPU Time (ns)"] or 0
                self.assertEqual(source == "counter", 0 < counted <= row["Total GPU Time"], row["Op ID"])
            screen = self.report(SOURCE / f"samples/captures/{name}.dlkcap").stdout
            self.assertEqual(source == "name", "(yes)" in screen, screen)

    def test_report_and_compare_give_the_same_shares(self):
        compared = self.dlkprof("compare", *self.paths.values(), "--format=json")
        for row in json.loads(compared.stdout)["tables"]["runs"]["rows"]:
            text = " ".join(self.report(self.paths[row["Run"]]).stdout.split())
            self.assertIn(f"Measured {row['Measured (%)']:.1f} % of the kernels' GPU time", text)
            self.assertIn(f"{row['Tensor Core Share (%)']:.1f} % of it in tensor-core kernels", text)

    def test_views_of_kernels_have_one_row_for_each(self):
        for name in CAPTURES:
            with contextlib.closing(sqlite3.connect(self.database(name))) as connection:
                for view, keys in (("op_kernels", "op_id, kernel"), ("op_kernel_metrics", "op_id, kernel, metric")):
                    twice = connection.execute(f"SELECT {keys} FROM {view} GROUP BY {keys} HAVING count(*) > 1").fetchall()
                    self.assertEqual([], twice, view)
                rows = connection.execute("SELECT count(*), count(DISTINCT long_kernel_name) FROM op_kernel_metrics").fetchone()
                self.assertTrue(all(rows), rows)

    def test_cards_have_the_names_of_kernels_in_full(self):
        for path in self.paths.values():
            names = {row["Kernel Name"] for row in self.rows(path, "metrics")}
            text = self.report(path, "--kernels=0").stdout
            findings = self.report(path, "--reports=expert_systems", "--top=0").stdout
            self.assertLessEqual(max(map(len, (text + findings).splitlines())), 80)
            text = text.replace("\n", "").replace(" ", "")
            for name in names:
                self.assertIn(name.replace(" ", "")[:990], text)

    def test_the_picture_is_whole(self):
        picture = self.report(self.paths["cifar10_b4"], "--reports=roofline", "--format=svg").stdout
        self.assertTrue(xml.etree.ElementTree.fromstring(picture).tag.endswith("svg"))
        names = [node for node in xml.etree.ElementTree.fromstring(picture).iter() if node.get("class") == "n"]
        self.assertEqual(5, len(names))
        boxes = []
        for node in names:  # letters are about 6 wide and 12 high
            x, y, width = float(node.get("x")), float(node.get("y")), 6 * len(node.text)
            boxes.append((x - width if node.get("text-anchor") == "end" else x, y, width))
            left, _, _ = boxes[-1]
            self.assertTrue(0 < left and left + width < 960, boxes)
            for x, above, wide in boxes[:-1]:
                self.assertFalse(left < x + wide and x < left + width and abs(y - above) < 11, boxes)
        refused = self.dlkprof("report", self.paths["cifar10_b4"], "--reports=stall", "--format=svg")
        self.assertEqual((2, ""), (refused.code, refused.stdout))
        self.assertIn("--reports=roofline", refused.stderr)


class ProfileDiagnosisTest(EndToEndTest):
    def test_files_and_the_end_of_a_profile(self):
        options = ["-v", "minimal", f"--reports={','.join(REPORTS)}", "--formats=csv,svg"]
        done = self.profile("marked:4", options=options)
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual({f"dlkprof_{report}.csv" for report in REPORTS}, {path.name for path in self.folder.glob("*.csv")})
        self.assertEqual({"dlkprof_roofline.svg"}, {path.name for path in self.folder.glob("*.svg")})
        lines = done.stderr.splitlines()
        start = next(number for number, line in enumerate(lines) if line.startswith("The GPU "))
        self.assertEqual("", lines[start - 1], "what the program printed ends there")
        screen = lines[
            start : next(number for number, line in enumerate(lines) if number > start and line.startswith("dlkprof: "))
        ]
        self.assertLessEqual(len(screen), 51)
        self.assertLessEqual(max(map(len, screen)), 80)
        self.assertIn("What to change", "\n".join(screen))
        self.assertIn("Next: dlkprof report dlkprof_dldb.sqlite with", screen)
        self.assertIn("--section roofline", done.stderr)

    def test_quiet_is_quiet(self):
        done = self.profile("marked:4", options=["-v", "quiet", "--reports=stall,roofline"])
        self.assertEqual((0, ""), (done.code, done.stderr))
