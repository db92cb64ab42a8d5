"""`dlkprof compare` on the captures that ship, each figure against SQL on their databases, and as a command."""

import csv
import io
import json
import math
import subprocess

import independent_compare as independent
from harness import BUILD, METRICS, SOURCE, EndToEndTest

CAPTURES = SOURCE / "samples/captures"


class CompareShippedTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.runs = {}
        for name in ("cifar10_b4", "cifar10_b512", "jax_mlp"):
            database = self.folder / f"{name}_dldb.sqlite"
            subprocess.run([BUILD / "bin/capture_database", database, CAPTURES / f"{name}.dlkcap"], check=True)
            self.runs[name] = independent.Run(database)
            self.addCleanup(self.runs[name].close)

    def compare(self, *words):
        done = self.dlkprof("compare", *words)
        self.assertEqual((0, ""), (done.code, done.stderr))
        return done.stdout

    def tables(self, *names, folder=None, suffix="_dldb.sqlite"):
        files = [(folder or self.folder) / f"{name}{suffix}" for name in names]
        document = json.loads(self.compare(*files, "--format=json"))
        self.assertEqual("compare", document["report"])
        return {name: table["rows"] for name, table in document["tables"].items()}

    def assert_figure(self, expected, found, what):
        if expected is None or found is None:
            self.assertEqual(expected, found, what)
        else:
            self.assertTrue(math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-9), (what, expected, found))

    def assert_spread(self, values, row, column, unit):
        names = (f"{column}, Lower Quartile ({unit})", f"{column} ({unit})", f"{column}, Upper Quartile ({unit})")
        for expected, name in zip(independent.quartiles(values), names):
            self.assert_figure(expected, row[name], name)

    def assert_hardware(self, run, works, row, before=""):
        figures = {
            "Idle SMs (%)": run.idle_sms(works),
            "Below One Wave (%)": run.below_one_wave(works),
            "Waves": run.mean_waves(works),
            "Achieved Occupancy (%)": run.counter(works, independent.OCCUPANCY),
            "Tensor Pipe (%)": run.counter(works, independent.TENSOR_PIPE),
            "DRAM Rate (byte/s)": run.counter(works, independent.DRAM_RATE),
            "DRAM Throughput (%)": run.counter(works, independent.DRAM_THROUGHPUT),
            "Measured (%)": run.measured_share(works),
        }
        for column, expected in figures.items():
            self.assert_figure(expected, row[before + column], (before + column, row.get("Op Name")))

    def test_figures_of_runs(self):
        rows = self.tables(*self.runs)["runs"]
        for (name, run), row in zip(self.runs.items(), rows):
            with self.subTest(run=name):
                self.assertEqual((name, run.count, run.batch_size), (row["Run"], row["Iterations"], row["Batch Size"]))
                self.assertEqual((run.first, run.last), (row["First Iteration"], row["Last Iteration"]))
                self.assert_spread(run.iteration_ns(), row, "Iteration Time", "ns")
                self.assert_spread(run.gpu_ns(), row, "GPU Time", "ns")
                self.assert_spread(run.utilization(), row, "GPU Utilization", "%")
                median = independent.quartiles(run.iteration_ns())[1]
                self.assert_figure(run.batch_size and 1e9 * run.batch_size / median, row["Throughput (sample/s)"], name)
                self.assert_figure(run.batch_size and median / run.batch_size, row["Time per Sample (ns)"], name)
                self.assert_figure(run.tensor_core_share(), row["Tensor Core Share (%)"], name)
                self.assert_hardware(run, run.works, row)
                counts = {
                    "Kernels": run.by_iteration(run.kernels, lambda work: 1),
                    "Launches": run.launches(),
                    "Copies": run.by_iteration([w for w in run.works if w.kind != "kernel"], lambda work: 1),
                }
                for what, values in counts.items():
                    self.assert_figure(independent.quartiles(values)[1], row[f"{what} per Iteration"], what)

    def check_side(self, run, works, row, before):
        self.assert_spread(run.gpu_ns(works), row, before + "GPU Time", "ns")
        self.assert_figure(sum(run.gpu_ns(works)) / run.count, row[before + "Mean GPU Time (ns)"], row)
        self.assert_hardware(run, works, row, before)
        return run.gpu_ns(works)

    def test_figures_of_ops(self):
        base, other = self.runs["cifar10_b4"], self.runs["cifar10_b512"]
        ops = base.by_op(), other.by_op()
        rows = self.tables("cifar10_b4", "cifar10_b512")["ops"]
        ps, found = {}, {}
        for row in rows:
            key = row["Op Name"], row["Direction"] or "", row["Op Type"]
            sides = [of.get(key) for of in ops]
            self.assertEqual({(True, True): "both", (True, False): "base only", (False, True): "run only"}[
                bool(sides[0]), bool(sides[1])], row["In"], key)  # fmt: skip
            times = [
                self.check_side(run, works, row, before)
                for run, works, before in zip((base, other), sides, ("Base ", ""))
                if works
            ]
            if row["In"] == "both":
                medians = [independent.quartiles(values)[1] for values in times]
                self.assert_figure(medians[1] / medians[0], row["Ratio"], key)
                self.assert_figure(math.log(medians[1] / medians[0]) / math.log(128), row["Scaling Exponent"], key)
                kernels = [{work.long_kernel for work in works} for works in sides]
                self.assertEqual(kernels[0] == kernels[1], row["Same Kernels"], key)
                ps[key] = independent.mann_whitney(*times)
            found[key] = row
        regular = {key for run, of in zip((base, other), ops) for key, works in of.items() if run.is_regular(works)}
        self.assertEqual(regular, set(found))
        self.assertGreater(len(ps), 50)
        for key, p in independent.corrected(ps).items():
            self.assert_figure(p, found[key]["p"], key)
            slower = found[key]["Ratio"] > 1
            self.assertEqual("no change" if p >= 0.01 else "slower" if slower else "faster", found[key]["Verdict"], key)

    def test_figures_of_kernels(self):
        for name, row in ((row["Run"], row) for row in self.tables("cifar10_b4", "cifar10_b512")["kernels"]):
            run = self.runs[name]
            works = [work for work in run.works
                     if (work.name, work.direction, work.type) == (row["Op Name"], row["Direction"] or "", row["Op Type"])
                     and (work.kernel, work.long_kernel) == (row["Kernel Name"], row["Long Kernel Name"])]  # fmt: skip
            self.assert_figure(len(works) / run.count, row["Launches per Iteration"], row)
            self.assert_figure(sum(run.gpu_ns(works)) / run.count, row["Mean GPU Time (ns)"], row)
            self.assert_hardware(run, works, row)

    def test_captures_and_databases_agree(self):
        names = ("cifar10_b4", "cifar10_b512", "jax_mlp")
        self.assertEqual(self.tables(*names), self.tables(*names, folder=CAPTURES, suffix=".dlkcap"))

    def test_what_it_says_of_the_two_batch_sizes(self):
        text = self.compare(CAPTURES / "cifar10_b4.dlkcap", CAPTURES / "cifar10_b512.dlkcap")
        for said in ("at 128x the samples", "Throughput is", "The GPU works for", "get no block", "a fixed cost",
                     "aten::convolution_backward (bprop) of /Cnn/features/2/"):  # fmt: skip
            self.assertIn(said, " ".join(text.split()))

    def test_runs_that_have_nothing_in_common(self):
        text = " ".join(self.compare(CAPTURES / "cifar10_b4.dlkcap", CAPTURES / "jax_mlp.dlkcap").split())
        self.assertIn("The frameworks differ: cifar10_b4 has PyTorch, jax_mlp has XLA.", text)
        self.assertIn("The batch size of jax_mlp is not known", text)

    def test_domains_that_no_range_is_in_are_told_of_each_run(self):
        files = [CAPTURES / "cifar10_b4.dlkcap", CAPTURES / "jax_mlp.dlkcap"]
        done = self.dlkprof("compare", *files, "--domains=default,TSL")
        expected = [f"dlkprof: {file}: no range is in the NVTX domain {domain}: --domains"
                    for file, domain in zip(files, ("TSL", "default"))]  # fmt: skip
        self.assertEqual((0, expected), (done.code, done.said()), done.stderr)

    def test_formats_agree(self):
        files = [CAPTURES / "cifar10_b4.dlkcap", CAPTURES / "cifar10_b512.dlkcap"]
        tables = self.tables("cifar10_b4", "cifar10_b512")
        text = self.compare(*files, "--format=csv")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual({"runs", "ops", "kernels", "findings"}, {row["Table"] for row in rows})
        for name, expected in tables.items():
            found = [row for row in rows if row["Table"] == name]
            self.assertEqual(len(expected), len(found))
            for wanted, row in zip(expected, found):
                for column, cell in wanted.items():
                    if isinstance(cell, float):
                        self.assertEqual(cell, float(row[column]), column)
                    else:
                        cell = "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)
                        self.assertEqual(cell, row[column], column)


class CompareCommandTest(EndToEndTest):
    def profile_as(self, name, steps):
        done = self.profile("train:1", "capture:2", f"marked:{steps}", options=[f"--base_name={name}", "--iter_start=0"],
                            metrics=METRICS)  # fmt: skip
        self.assertEqual(0, done.code, done.stderr)
        return f"{name}_dldb.sqlite"

    def test_profiles_compared(self):
        """From the program to the comparison: two runs, two files."""
        databases = self.profile_as("small", 10), self.profile_as("large", 12)
        wanted = ["--formats=csv,json", "--output_path=out", "--batch_sizes=4,512", "--labels=a,b"]
        done = self.dlkprof("compare", *databases, *wanted)
        self.assertEqual((0, ""), (done.code, done.stdout), done.stderr)
        names = {path.name for path in (self.folder / "out").iterdir()}
        self.assertEqual({f"dlkprof_compare.{form}" for form in ("csv", "json")}, names)
        tables = json.loads((self.folder / "out/dlkprof_compare.json").read_text())["tables"]
        self.assertEqual(
            [("a", 4, 11), ("b", 512, 13)], [(row["Run"], row["Batch Size"], row["Iterations"]) for row in tables["runs"]["rows"]]
        )
        self.assertTrue(any(row["Verdict"] for row in tables["ops"]["rows"]))
        again = self.dlkprof("compare", *databases, *wanted)
        self.assertEqual(2, again.code)
        self.assertIn("--force", again.stderr)

    def test_usage(self):
        self.assertEqual(2, self.dlkprof("compare").code)
        self.assertEqual(2, self.dlkprof("compare", "one.sqlite").code)
        self.assertEqual(1, self.dlkprof("compare", "one.sqlite", "two.sqlite").code)
        self.assertIn("2 to 16", self.dlkprof("compare", "one.sqlite").stderr)
