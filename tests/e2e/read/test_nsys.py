"""SQLite files of Nsight Systems: one made by a generator of our own folds as the capture did that it was made of, and one that
dlkprof exports does, too."""

import csv
import io
import json
import sqlite3

from harness import BUILD, SOURCE, EndToEndTest
from nsys_file import TABLES, make_nsys_file

CAPTURES = sorted(path.stem for path in (SOURCE / "samples/captures").glob("*.dlkcap"))
# Launches that were being measured have no time in it, and the published schema has no place for such.
PARTLY_TIMED = "cifar10_b512_iteration"
# How ops use tensor cores may be known by counters, which such files do not have.
OP_COLUMNS = ("op_id, op_name, direction, op_type, calls, cpu_total_ns, cpu_min_ns, cpu_max_ns, gpu_total_ns, gpu_min_ns, gpu_max_ns, "
              "overhead_total_ns, idle_total_ns, mapped_total_ns, data_types, input_shapes")  # fmt: skip
KERNEL_COLUMNS = "op_id, long_kernel_name, calls, gpu_total_ns, gpu_min_ns, gpu_max_ns, api_total_ns"


class NsysTest(EndToEndTest):
    def database(self, capture):
        path = self.folder / f"{capture}_dldb.sqlite"
        done = self.run_command(BUILD / "bin/capture_database", path, SOURCE / f"samples/captures/{capture}.dlkcap")
        self.assertEqual(0, done.code, done.stderr)
        return path

    def folded(self, path, name):
        """What dlkprof makes of a file of Nsight Systems."""
        done = self.dlkprof(f"--database={path}", "--reports=summary", "--output_path=.", f"--base_name={name}", "--force")
        self.assertEqual(0, done.code, done.stderr)
        return self.folder / f"{name}_dldb.sqlite"

    def figures(self, path):
        connection = sqlite3.connect(path)
        self.addCleanup(connection.close)

        def rows(sql):
            return sorted(connection.execute(sql).fetchall(), key=str)

        lengths = rows("SELECT iteration, duration_ns, calls, gpu_ns, aggregated FROM iterations")
        return {
            "iterations": lengths,
            "ops": rows(f"SELECT {OP_COLUMNS} FROM detail"),
            "kernels": rows(f"SELECT {KERNEL_COLUMNS} FROM op_kernels"),
            "times": rows("SELECT long_kernel_name, op_id, iteration, gpu_ns, bytes FROM kernels WHERE gpu_start_ns IS NOT NULL"),
            "occupancy": rows("SELECT long_kernel_name, grid_x, block_x, launches, theoretical_pct, waves FROM occupancy"),
        }

    def generated(self, capture):
        """The figures of a capture, and of a generated file with its values."""
        database = self.database(capture)
        path = self.folder / "profile.sqlite"
        make_nsys_file(database, path)
        return self.figures(database), self.figures(self.folded(path, f"{capture}_nsys"))

    def test_a_generated_file_folds_as_the_capture_did(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture):
                wanted, found = self.generated(capture)
                for name, rows in wanted.items():
                    self.assertTrue(rows, name)
                    if capture != PARTLY_TIMED or name in ("ops", "times"):
                        self.assertEqual(rows, found[name], name)

    def test_ranges_of_every_kind_are_carried(self):
        """Of two domains and several threads, with ranges from start to end and a push that never ended."""
        done = self.profile("train:1", "capture:2", "marked:6", options=["--replay-mode=none"])
        self.assertEqual(0, done.code, done.stderr)
        path = self.folder / "profile.sqlite"
        database = self.folder / "dlkprof_dldb.sqlite"
        connection = sqlite3.connect(database)
        self.addCleanup(connection.close)
        kinds = {(kind, closed) for kind, closed in connection.execute("SELECT DISTINCT kind, closed FROM range")}
        self.assertEqual({(0, 0), (0, 1), (1, 1)}, kinds)
        self.assertGreater(connection.execute("SELECT count(DISTINCT thread) FROM range").fetchone()[0], 1)
        self.assertEqual(2, connection.execute("SELECT count(DISTINCT domain) FROM range").fetchone()[0])
        make_nsys_file(database, path)
        wanted, found = self.figures(database), self.figures(self.folded(path, "marked_nsys"))
        for name, rows in wanted.items():
            self.assertEqual(rows, found[name], name)
        done = self.dlkprof("export", database, "--format=nsys-sqlite", "-o", "exported.sqlite")
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual(wanted, self.figures(self.folded(self.folder / "exported.sqlite", "marked_exported")))

    def test_launches_without_a_time_are_all_that_a_generated_file_lacks(self):
        wanted, found = self.generated(PARTLY_TIMED)
        # Of kernels, the CUDA calls that launched those without a time; of launch configurations, how often each was launched.
        self.assertEqual([row[:-1] for row in wanted["kernels"]], [row[:-1] for row in found["kernels"]])
        self.assertEqual(
            [(*row[:3], *row[4:]) for row in wanted["occupancy"]], [(*row[:3], *row[4:]) for row in found["occupancy"]]
        )
        connection = sqlite3.connect(self.folder / f"{PARTLY_TIMED}_dldb.sqlite")
        self.addCleanup(connection.close)
        untimed = dict(connection.execute("SELECT iteration, count(*) FROM kernels WHERE gpu_start_ns IS NULL GROUP BY 1"))
        self.assertGreater(sum(untimed.values()), 0)
        lacking = [
            (iteration, length, calls - untimed.get(iteration, 0), *rest)
            for iteration, length, calls, *rest in wanted["iterations"]
        ]
        self.assertEqual(sorted(lacking, key=str), found["iterations"])

    def test_an_exported_file_folds_as_the_capture_did(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture):
                database = self.database(capture)
                done = self.dlkprof("export", database, "--format=nsys-sqlite", "-o", f"{capture}.sqlite")
                self.assertEqual(0, done.code, done.stderr)
                self.assertNotIn("left out", done.stderr)
                path = self.folder / f"{capture}.sqlite"
                self.assertEqual(0o600, path.stat().st_mode & 0o777)
                self._check_tables(path, database)
                made = self.folded(path, f"{capture}_exported")
                self.assertEqual(self.figures(database), self.figures(made))

    def _check_tables(self, path, database):
        """What readers of such files ask: counts and sums of the tables that nsys's own reports are made of."""
        nsys, ours = sqlite3.connect(path), sqlite3.connect(database)
        self.addCleanup(nsys.close)
        self.addCleanup(ours.close)

        def one(connection, sql):
            return connection.execute(sql).fetchone()

        self.assertEqual(
            one(ours, "SELECT count(*), total(gpu_ns) FROM kernels WHERE kind = 'kernel' AND gpu_start_ns IS NOT NULL"),
            one(nsys, "SELECT count(*), total(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"),
        )
        self.assertEqual(
            one(ours, "SELECT count(*), total(gpu_ns), total(bytes) FROM kernels WHERE kind = 'copy'"),
            one(nsys, "SELECT count(*), total(end - start), total(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
        )
        self.assertEqual(
            one(ours, "SELECT count(*), total(end_ns - start_ns) FROM call"),
            one(nsys, "SELECT count(*), total(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME"),
        )
        by_name = "SELECT s.value, count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName GROUP BY 1"
        self.assertEqual(
            ours.execute(
                "SELECT kernel_name, count(*), sum(gpu_ns) FROM kernels WHERE kind = 'kernel' AND gpu_start_ns IS NOT NULL GROUP BY 1"
            ).fetchall(),
            nsys.execute(by_name).fetchall(),
        )
        messages = "SELECT coalesce(e.text, s.value) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId WHERE eventType IN (34, 59, 60) ORDER BY rangeId"
        self.assertEqual(ours.execute("SELECT message FROM ranges ORDER BY range").fetchall(), nsys.execute(messages).fetchall())
        self.assertEqual(
            one(ours, "SELECT pid FROM process LIMIT 1")[0],
            one(nsys, "SELECT globalTid / 0x1000000 % 0x1000000 FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1")[0],
        )

    def test_every_verb_takes_it(self):
        database = self.database("cifar10_b512_sampled")
        path = self.folder / "profile.sqlite"
        make_nsys_file(database, path)
        before = path.read_bytes()
        screen = self.report(path).stdout
        self.assertIn("python3", screen)
        ops = self.report_json(path, "--reports=detail")
        self.assertEqual(
            [row["Op Name"] for row in self.report_json(database, "--reports=detail")], [row["Op Name"] for row in ops]
        )
        findings = json.loads(self.report(path, "--reports=findings", "--format=json").stdout)
        self.assertTrue(findings["findings"])
        self.assertIn("bank_conflicts", {one["rule"] for one in findings["not_measured"]})
        done = self.dlkprof("compare", database, path, "--format=json")
        self.assertEqual(0, done.code, done.stderr)
        runs = json.loads(done.stdout)["tables"]["runs"]["rows"]
        self.assertEqual(2, len(runs))
        done = self.dlkprof("export", path, "--format=folded", "-o", "-")
        self.assertEqual(done.stdout, self.dlkprof("export", database, "--format=folded", "-o", "-").stdout)
        self.assertEqual(before, path.read_bytes())

    def test_calls_of_the_runtime_are_those_of_a_kineto_trace(self):
        path = self.folder / "profile.sqlite"
        make_nsys_file(self.database("cifar10_b512"), path)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("UPDATE StringIds SET value = 'cudaLaunchKernel_v7000' WHERE value = 'cuLaunchKernel'")
        connection.close()
        done = self.dlkprof("export", path, "--format=kineto", "-o", "-")
        self.assertEqual(0, done.code, done.stderr)
        calls = [
            event
            for event in json.loads(done.stdout)["traceEvents"]
            if event.get("cat") == "cuda_runtime" and event["name"] == "cudaLaunchKernel"
        ]
        self.assertGreater(len(calls), 1000)
        self.assertTrue(all("driver call" not in event["args"] for event in calls))

    def test_hostile_files_are_borne(self):
        path = self.folder / "profile.sqlite"
        big = (1 << 63) - 1
        for rows, code in (
            ((), 0),
            (("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, demangledName, shortName, registersPerThread, "
              "gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId) "
              f"VALUES ({start}, {end}, {device}, 1, -1, 7, 8, {big}, {big}, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0)"
              for start, end, device in ((5, 2, 0), (-9, 5, 0), (0, big, 0), (0, 0, 0), (1, 2, big), (1, 2, 4_000_000_000))), 0),
            ((f"INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES ({start}, {end}, {kind}, 'x', {tid})"
              for start, end, kind, tid in ((3, 1, 59, 1), (0, "NULL", 59, big), (-5, 5, 60, 1), (1, 9, 59, 1), (5, 20, 59, 1), (1, 1, 34, -1), (1, 2, 99, 1))), 0),
            (("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (9, 1, 0, 5, 1, 1, 0, NULL)",
              "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 9, 0, NULL, 1, 1, 0, NULL)",
              "INSERT INTO StringIds VALUES (1, x'ff00fe')"), 0),
            (("DROP TABLE NVTX_EVENTS", "CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start, 2 AS eventType"), 0),
            (("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER)"), 1),
        ):  # fmt: skip
            path.unlink(missing_ok=True)
            connection = sqlite3.connect(path)
            connection.executescript(TABLES)
            for sql in rows:
                connection.execute(sql)
            connection.commit()
            connection.close()
            done = self.dlkprof("report", path)
            self.assertEqual(code, done.code, done.stderr)
        self.assertIn("has no column", done.stderr)
        path.write_bytes(path.read_bytes()[:5000])
        self.assertEqual(1, self.dlkprof("report", path).code)


class NcuCsvTest(EndToEndTest):
    def test_rows_are_those_of_the_metrics_report(self):
        path = SOURCE / "samples/captures/cifar10_b512.dlkcap"
        done = self.dlkprof("export", path, "--format=ncu-csv", "-o", "-")
        self.assertEqual(0, done.code, done.stderr)
        self.assertTrue(all(line.startswith('"') and line.endswith('"') for line in done.stdout.splitlines()))
        head, units, *rows = csv.reader(io.StringIO(done.stdout))
        self.assertEqual(["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
                          "Device", "CC"], head[:11])  # fmt: skip
        self.assertEqual([""] * 11, units[:11])
        launches = [dict(zip(head, row)) for row in rows]
        metrics = [row for row in self.report_json(path, "--reports=metrics") if row["ID"] is not None]
        self.assertEqual(len(metrics), len(launches))
        for wanted, found in zip(metrics, launches):
            self.assertEqual(wanted["Kernel Name"], found["Kernel Name"])
            self.assertEqual(str(wanted["ID"]), found["ID"])
            self.assertEqual((wanted["Grid Size"], wanted["Block Size"]), (found["Grid Size"], found["Block Size"]))
            self.assertEqual("9.0", found["CC"])
            for name in head[11:]:
                if name.startswith("launch__"):
                    continue
                self.assertEqual(
                    "" if wanted[name] is None else float(wanted[name]), "" if found[name] == "" else float(found[name]), name
                )
            self.assertGreater(float(found["launch__registers_per_thread"]), 0)
        self.assertEqual("%", units[head.index("sm__throughput.avg.pct_of_peak_sustained_elapsed")])
        # What KernelAgent does: the launch with most cycles.
        best = max(launches, key=lambda row: float(row["gpu__time_duration.sum"]))
        self.assertIn("(", best["Grid Size"])

    def test_without_counters_there_is_nothing_to_write(self):
        done = self.dlkprof("export", SOURCE / "samples/captures/cifar10_b512_sampled.dlkcap", "--format=ncu-csv")
        self.assertEqual(1, done.code)
        self.assertIn("--set basic", done.stderr)
        done = self.dlkprof("export", SOURCE / "samples/captures/cifar10_b512.dlkcap", "--format=nsys-sqlite", "-o", "-")
        self.assertEqual(2, done.code)
