"""dlkprof export: every trace is decoded by a reader of its own, and what it holds is what the database says."""

import collections
import gzip
import json
import os
import re
import sqlite3

from harness import BUILD, SOURCE, EndToEndTest, python_with
from perfetto_reader import PerfettoTrace, only

CAPTURES = sorted(path.stem for path in (SOURCE / "samples/captures").glob("*.dlkcap"))
COMPUTE = 2  # InternedGpuRenderStageSpecification.RenderStageCategory


class ExportTest(EndToEndTest):
    def database(self, capture):
        """A database of a shipped capture, and a connection to it."""
        path = self.folder / f"{capture}_dldb.sqlite"
        if not path.exists():
            done = self.run_command(BUILD / "bin/capture_database", path, SOURCE / f"samples/captures/{capture}.dlkcap")
            self.assertEqual(0, done.code, done.stderr)
        connection = sqlite3.connect(path)
        connection.row_factory = sqlite3.Row
        self.addCleanup(connection.close)
        return path, connection

    def export(self, *words):
        done = self.dlkprof("export", *words)
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual("", done.stdout)
        return done

    def perfetto(self, capture):
        path, connection = self.database(capture)
        trace = self.folder / f"{capture}.perfetto-trace"
        self.export(path, "--format=perfetto", "-o", trace)
        return PerfettoTrace(trace), connection


class PerfettoTest(ExportTest):
    def test_what_it_holds_is_what_the_database_says(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture):
                trace, database = self.perfetto(capture)
                self._check_slices(trace, database)
                self._check_stages(trace, database)
                self._check_flows(trace, database)

    def _check_slices(self, trace, database):
        def figures(category):
            found = [one for one in trace.slices if one.category in category]
            return len(found), sum(one.end - one.start for one in found)

        def told(sql):
            return tuple(database.execute(sql).fetchone())

        self.assertEqual(told("SELECT count(*), total(end_ns - start_ns) FROM call"), figures({"cuda"}))
        self.assertEqual(told("SELECT count(*), total(end_ns - start_ns) FROM range WHERE kind != 2"), figures({"op", "range"}))
        self.assertEqual(told("SELECT count(*) FROM range WHERE kind = 2")[0], len(trace.instants))
        if told("SELECT key_nodes_found FROM summary")[0]:
            self.assertEqual(told("SELECT count(*), sum(duration_ns) FROM iterations"), figures({"iteration"}))
        # An op's slice says which it is, and ops nest as ranges do.
        ops = collections.Counter(one.args["op_id"] for one in trace.slices if one.category == "op")
        self.assertLessEqual(set(ops), {row[0] for row in database.execute("SELECT op_id FROM ops")})
        depth = told("WITH RECURSIVE d(id, n) AS (SELECT id, 0 FROM range WHERE parent IS NULL UNION ALL "
                     "SELECT r.id, n + 1 FROM range r JOIN d ON r.parent = d.id) SELECT max(n) FROM d")[0]  # fmt: skip
        self.assertEqual(depth or 0, max((one.depth for one in trace.slices if one.category != "cuda"), default=0))

    def _check_stages(self, trace, database):
        rows = database.execute("SELECT * FROM kernels WHERE gpu_start_ns IS NOT NULL").fetchall()
        self.assertEqual(len(rows), len({stage.id for stage in trace.stages}))
        self.assertEqual(sum(row["gpu_ns"] for row in rows), sum(stage.duration for stage in trace.stages))
        kernels = [stage for stage in trace.stages if only(stage.stage, "category") == COMPUTE]
        self.assertEqual(sum(row["kind"] == "kernel" for row in rows), len(kernels))

        def key(start, gpu_ns, op_id, iteration, grid, name):
            return start, gpu_ns, op_id, iteration, grid, name

        wanted = collections.Counter(
            key(row["gpu_start_ns"], row["gpu_ns"], row["op_id"], row["iteration"], row["grid_x"], row["long_kernel_name"])
            for row in rows if row["kind"] == "kernel"
        )  # fmt: skip
        found = collections.Counter(
            key(one.start, one.duration, one.args["op_id"], one.args["iteration"], only(only(one.launch, "grid_size"), "x"),
                only(one.kernel, "demangled_name")) for one in kernels
        )  # fmt: skip
        self.assertEqual(wanted, found)
        for one in kernels:
            self.assertRegex(only(one.kernel, "arch"), r"^sm_\d+$")
        described = database.execute(
            "SELECT count(*) FROM activity a JOIN config c ON c.id = a.config JOIN function f ON f.process = c.process AND "
            "f.number = c.function WHERE a.start_ns IS NOT NULL"
        ).fetchone()[0]  # fmt: skip
        for arg in ("registers_per_thread", "occupancy_limit_warps"):
            self.assertEqual(described, sum(arg in one.args for one in kernels))

    def _check_flows(self, trace, database):
        """Every kernel whose call is known is one that its call's slice names."""
        named = [work for one in trace.slices for work in one.works]
        self.assertEqual(len(named), len(set(named)))
        stages = {stage.id: stage for stage in trace.stages}
        self.assertLessEqual(set(named), set(stages))
        called = database.execute("SELECT count(*) FROM activity WHERE call IS NOT NULL AND start_ns IS NOT NULL").fetchone()[0]
        self.assertEqual(called, len(named))
        for one in trace.slices:
            self.assertTrue(not one.works or one.category == "cuda")

    def test_protobuf_reads_the_same(self):
        traces = []
        for capture in ("cifar10_b512", "cifar10_b512_iteration", "cifar10_b512_sampled"):
            trace, _ = self.perfetto(capture)
            traces.append((self.folder / f"{capture}.perfetto-trace", len(trace.packets)))
        done = self.run_command(python_with("google.protobuf"), "-B", SOURCE / "tests/e2e/support/perfetto_by_protobuf.py",
                                *(path for path, _ in traces))  # fmt: skip
        self.assertEqual(
            (0, [packets for _, packets in traces]), (done.code, [int(word) for word in done.stdout.split()]), done.stderr
        )

    def test_counters_stand_where_their_kernels_do(self):
        trace, database = self.perfetto("cifar10_b512")
        kernels = [stage for stage in trace.stages if only(stage.stage, "category") == COMPUTE]
        by_launch = {}  # what the pages of the UI do: a kernel's counters are the samples within its time
        for stage in (one for one in kernels if "collected_by" in one.args):
            for (gpu, metric), samples in trace.gpu_counters.items():
                if gpu != stage.gpu:
                    continue
                within = [value for at, value in samples if stage.start <= at < stage.start + stage.duration]
                self.assertEqual(1, len(within), (stage.name, metric))
                by_launch.setdefault((stage.start, metric), (within[0], stage))
        measured = database.execute(
            "SELECT s.metric, s.value, k.gpu_start_ns, m.samples, m.mean, m.stddev, s.collected_by FROM metric_samples s "
            "JOIN kernels k ON k.config = s.config AND k.launch_index = s.launch_index "
            "JOIN metrics m ON m.config = s.config AND m.metric = s.metric WHERE s.value IS NOT NULL"
        ).fetchall()  # fmt: skip
        self.assertEqual(len(measured), len(by_launch))
        for row in measured:
            value, stage = by_launch[row["gpu_start_ns"], row["metric"]]
            self.assertEqual(row["value"], value)
            self.assertEqual(row["samples"], stage.args[row["metric"] + ".n"])
            self.assertEqual(row["collected_by"], stage.args["collected_by"])
            if row["stddev"] is not None:
                middle = (stage.args[row["metric"] + ".low"] + stage.args[row["metric"] + ".high"]) / 2
                self.assertAlmostEqual(row["mean"], middle, delta=1e-9 * abs(row["mean"]) + 1e-9)
        for spec in trace.specs.values():
            self.assertEqual((2, [6]), (only(spec, "value_direction"), spec["groups"]))
        self.assertEqual([37], trace.specs["sm__throughput.avg.pct_of_peak_sustained_elapsed"]["numerator_units"])

    def test_samples_are_counter_tracks(self):
        trace, database = self.perfetto("cifar10_b512_sampled")
        bins = database.execute("SELECT device, metric, count(*), total(value) FROM utilization GROUP BY 1, 2").fetchall()
        self.assertGreater(len(bins), 0)
        for device, metric, count, total in bins:
            track = next(uuid for uuid, one in trace.tracks.items() if one.get("name") == [f"GPU {device}: {metric}"])
            values = trace.values[track]
            self.assertAlmostEqual(total, sum(value for _, value in values), delta=1e-6 * abs(total))
            bursts = sum(
                one.category == "burst"
                for one in trace.slices
                if trace.tracks[one.track].get("name") == [f"GPU {device}: sampled"]
            )
            self.assertEqual(count + bursts, len(values))
        means = {(row["metric"], row["mean"]): row for row in database.execute("SELECT * FROM sampled_metrics")}
        shown = [stage for stage in trace.stages if stage.args.get("collected_by") == "sampled"]
        self.assertTrue(shown)
        for (_, metric), samples in trace.gpu_counters.items():
            for at, value in samples:
                self.assertTrue(value == 0 or (metric, value) in means, (metric, at, value))

    def test_two_ranks_are_one_trace(self):
        paths = [self.database(capture)[0] for capture in ("cifar10_b4", "cifar10_b512")]
        self.export(*paths, "--format=perfetto", "-o", "job.perfetto-trace.gz")
        both = PerfettoTrace(self.folder / "job.perfetto-trace.gz")
        alone = []
        for path in paths:
            self.export(path, "--format=perfetto", "-o", f"{path.stem}.perfetto-trace")
            alone.append(PerfettoTrace(self.folder / f"{path.stem}.perfetto-trace"))
        self.assertEqual(sum(len(one.stages) for one in alone), len({stage.id for stage in both.stages}))
        self.assertEqual(sum(len(one.slices) for one in alone), len(both.slices))
        pids = [only(one["process"][0], "pid") for one in both.tracks.values() if "process" in one]
        self.assertEqual(len(pids), len(set(pids)))
        self.assertEqual(2, sum(one.get("name") == ["Iterations"] for one in both.tracks.values()))
        names = " ".join(one["process"][0]["process_name"][0] for one in both.tracks.values() if "process" in one)
        self.assertIn("cifar10_b4: ", names)
        self.assertIn("cifar10_b512: ", names)


class KinetoTest(ExportTest):
    def kineto(self, capture):
        path, database = self.database(capture)
        self.export(path, "--format=kineto", "-o", f"{capture}.json.gz")
        with gzip.open(self.folder / f"{capture}.json.gz", "rt", encoding="utf-8") as file:
            return json.load(file, parse_constant=self.fail), database

    def test_what_it_holds_is_what_the_database_says(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture):
                trace, database = self.kineto(capture)
                self.assertLessEqual({"schemaVersion", "deviceProperties", "baseTimeNanoseconds", "traceEvents"}, set(trace))
                slices = collections.defaultdict(list)
                for event in trace["traceEvents"]:
                    if event["ph"] == "X":
                        slices[event["cat"]].append(event)
                kinds = {"kernel": "kernel", "copy": "gpu_memcpy", "set": "gpu_memset"}
                for kind, category in kinds.items():
                    count, total = database.execute(
                        "SELECT count(*), total(gpu_ns) FROM kernels WHERE kind = ? AND gpu_start_ns IS NOT NULL", (kind,)
                    ).fetchone()
                    self.assertEqual(count, len(slices[category]))
                    self.assertEqual(total, sum(round(event["dur"] * 1000) for event in slices[category]))
                calls = database.execute("SELECT count(*), count(range) FROM call").fetchone()
                self.assertEqual(calls[0], len(slices["cuda_runtime"]) + len(slices["cuda_driver"]))
                ranges = database.execute("SELECT count(*) FROM range WHERE kind = 0").fetchone()[0]
                steps = sum(event["name"].startswith("ProfilerStep#") for event in slices["user_annotation"])
                self.assertEqual(ranges + steps + calls[0] - calls[1], len(slices["cpu_op"]) + len(slices["user_annotation"]))
                self._check_flows(trace["traceEvents"])

    def _check_flows(self, events):
        begins = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        self.assertEqual(set(begins), set(ends))
        self.assertTrue(begins)
        called = {event["args"]["correlation"] for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver")}
        self.assertLessEqual(set(begins), called)

    def test_counters_join_as_hta_joins_them(self):
        """hta/analyzers/cupti_counter_analysis.py: as many ranges as launches, joined by position in the order of ts; of the
        launch's ancestors those of cat cpu_op, of which there must be one."""
        for capture in ("cifar10_b4", "cifar10_b512", "cifar10_b512_iteration"):
            with self.subTest(capture=capture):
                trace, database = self.kineto(capture)
                events = [dict(event, index=i) for i, event in enumerate(trace["traceEvents"]) if event["ph"] == "X"]
                ranges = sorted((one for one in events if one["cat"] == "cuda_profiler_range"), key=lambda one: one["ts"])
                launches = sorted((one for one in events if re.match("cuda_runtime", one["cat"]) and
                                   re.match("cudaLaunchKernel", one["name"])), key=lambda one: one["ts"])  # fmt: skip
                self.assertEqual(len(launches), len(ranges))
                parents = self._parents(events)
                counted = []
                for launch, counters in zip(launches, ranges):
                    self.assertEqual(launch["args"]["correlation"], counters["args"]["correlation"])
                    ops, at = [], launch["index"]
                    while (at := parents[at]) is not None:
                        if trace["traceEvents"][at]["cat"] == "cpu_op":
                            ops.insert(0, trace["traceEvents"][at]["name"])
                    self.assertTrue(ops, launch)
                    values = {name: value for name, value in counters["args"].items() if "__" in name}
                    counted += [values] if values else []
                measured = database.execute("SELECT metric, total(value), count(value) FROM metric_samples GROUP BY 1").fetchall()
                self.assertTrue(measured)
                for metric, total, count in measured:
                    values = [one[metric] for one in counted if metric in one]
                    self.assertEqual(count, len(values))
                    self.assertAlmostEqual(total, sum(values), delta=1e-9 * abs(total))

    def _parents(self, events):
        """The event around each, within one thread: of two alike, that which comes first is the outer one."""
        parents = {}
        threads = collections.defaultdict(list)
        for event in events:
            if event["cat"] in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"):
                threads[event["pid"], event["tid"]].append(event)
        for those in threads.values():
            stack = []
            for event in sorted(those, key=lambda one: (one["ts"], -one["dur"], one["index"])):
                while stack and round(1000 * (stack[-1]["ts"] + stack[-1]["dur"])) < round(1000 * (event["ts"] + event["dur"])):
                    stack.pop()
                parents[event["index"]] = stack[-1]["index"] if stack else None
                stack.append(event)
        return parents


class StacksTest(ExportTest):
    def test_stacks_sum_up_to_the_kernels(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture):
                path, database = self.database(capture)
                total = database.execute("SELECT sum(gpu_total_ns) FROM op_kernels").fetchone()[0]
                self.export(path, "--format=folded", "-o", f"{capture}.folded")
                folded = [line.rsplit(" ", 1) for line in (self.folder / f"{capture}.folded").read_text().splitlines()]
                self.assertEqual(total, sum(int(weight) for _, weight in folded))
                self.export(path, "--format=speedscope", "-o", f"{capture}.json")
                document = json.loads((self.folder / f"{capture}.json").read_text())
                self.assertEqual("https://www.speedscope.app/file-format-schema.json", document["$schema"])
                (profile,) = document["profiles"]
                self.assertEqual(
                    ("sampled", "nanoseconds", 0, total),
                    tuple(profile[name] for name in ("type", "unit", "startValue", "endValue")),
                )
                self.assertEqual(total, sum(profile["weights"]))
                frames = [frame["name"] for frame in document["shared"]["frames"]]
                stacks = [";".join(frames[i] for i in sample) for sample in profile["samples"]]
                self.assertEqual([stack for stack, _ in folded], stacks)


class ExportCommandTest(ExportTest):
    def test_files_are_private_and_not_replaced_unasked(self):
        path, _ = self.database("cifar10_b4")
        done = self.export(path, "--format=folded")
        self.assertIn("dlkprof: wrote cifar10_b4.folded", done.stderr)
        made = self.folder / "cifar10_b4.folded"
        self.assertEqual(0o600, made.stat().st_mode & 0o777)
        again = self.dlkprof("export", path, "--format=folded")
        self.assertEqual(2, again.code)
        self.assertIn("is there already", again.stderr)
        self.export(path, "--format=folded", "--force")
        made.unlink()
        made.symlink_to(self.folder / "elsewhere")
        self.assertEqual(2, self.dlkprof("export", path, "--format=folded").code)
        self.export(path, "--format=folded", "--force")
        self.assertFalse((self.folder / "elsewhere").exists())
        self.assertFalse(made.is_symlink())

    def test_what_is_no_file_is_not_replaced(self):
        path, _ = self.database("cifar10_b4")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for form in ("folded", "nsys-sqlite"):
            done = self.dlkprof("export", path, f"--format={form}", "-o", pipe, "--force")
            self.assertEqual(2, done.code)
            self.assertIn("is a device, a pipe or a socket", done.stderr)
        self.assertTrue(pipe.is_fifo())

    def test_stdout_is_the_data_alone(self):
        path, _ = self.database("cifar10_b4")
        done = self.dlkprof("export", path, "--format=folded", "-o", "-")
        self.assertEqual((0, ""), (done.code, done.stderr))
        self.export(path, "--format=folded", "-o", "file")
        self.assertEqual((self.folder / "file").read_text(), done.stdout)

    def test_captures_and_their_databases_give_the_same(self):
        path, _ = self.database("cifar10_b512")
        for form in ("perfetto", "kineto", "folded"):
            self.export(path, f"--format={form}", "-o", "of_database")
            self.export(SOURCE / "samples/captures/cifar10_b512.dlkcap", f"--format={form}", "-o", "of_capture")
            texts = [(self.folder / name).read_bytes() for name in ("of_database", "of_capture")]
            self.assertEqual(*texts, form)
            for name in ("of_database", "of_capture"):
                (self.folder / name).unlink()

    def test_bad_usage_is_told(self):
        path, _ = self.database("cifar10_b4")
        for words, said in (
            ((path,), "--format"),
            ((path, "--format=svg"), "svg"),
            ((path, path, "--format=folded"), "takes one run"),
            (("nothing.dlkcap", "--format=folded"), "there is no file"),
            ((path, "--format=folded", "-o", "no/such/folder/file"), "no/such/folder"),
        ):
            done = self.dlkprof("export", *words)
            self.assertIn(done.code, (1, 2))
            self.assertIn(said, done.stderr)
            self.assertEqual("", done.stdout)
