"""dlkprof merge: captures that ship, merged into one database, on this machine and on Dask."""

import collections
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from harness import BUILD, DLKPROF, SOURCE
from perfetto_reader import PerfettoTrace

SHIPPED = SOURCE / "samples/captures"
RANKS = 6


def python_with_dask():
    """A Python that has Dask Distributed, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import distributed"], capture_output=True, check=False).returncode == 0:
            return python
    return None


class MergeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def dlkprof(self, *words, code=0):
        done = subprocess.run([DLKPROF, *words], capture_output=True, text=True, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def merge(self, output, *inputs):
        return self.dlkprof("merge", *inputs, "-o", output).stderr

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()


class MergeCommandTest(MergeTest):
    def test_a_folder_and_its_parts_give_the_same(self):
        self.merge("all.sqlite", SHIPPED)
        captures = sorted(SHIPPED.glob("*.dlkcap"))
        self.merge("a.sqlite", *captures[:2])
        self.merge("b.sqlite", *captures[2:])
        self.merge("tree.sqlite", "b.sqlite", "a.sqlite")
        self.assertEqual(self.bytes_of("all.sqlite"), self.bytes_of("tree.sqlite"))
        with sqlite3.connect(self.folder / "all.sqlite") as database:
            self.assertEqual(database.execute("SELECT count(*) FROM rank").fetchone(), (RANKS,))

    def test_a_database_of_a_run_is_as_good_as_its_capture(self):
        capture = SHIPPED / "cifar10_b512.dlkcap"
        self.dlkprof(f"--database={capture}", "--base_name", "run", "--output_path", ".")
        self.merge("a.sqlite", capture)
        self.merge("b.sqlite", "run_dldb.sqlite")
        self.assertEqual(self.bytes_of("a.sqlite"), self.bytes_of("b.sqlite"))

    def test_what_cannot_be_read_is_told_and_the_rest_merged(self):
        (self.folder / "bad.dlkcap").write_text("no capture")
        said = self.merge("all.sqlite", SHIPPED, "bad.dlkcap")
        self.assertIn("left out: bad.dlkcap is not a capture", said)
        self.assertIn(f"wrote all.sqlite, {RANKS} ranks", said)

    def test_a_capture_cut_short_counts_as_far_as_it_goes(self):
        whole = (SHIPPED / "cifar10_b512.dlkcap").read_bytes()
        (self.folder / "cut.dlkcap").write_bytes(whole[: len(whole) * 3 // 4])
        said = self.merge("cut.sqlite", "cut.dlkcap")
        self.assertIn("captures of 1 ranks were cut short or damaged", said)

    def test_hostile_files_are_told_and_the_rest_merged(self):
        good = (SHIPPED / "cifar10_b512.dlkcap").read_bytes()
        ranks = self.folder / "ranks"
        ranks.mkdir()
        newer = bytearray((SHIPPED / "cifar10_b4.dlkcap").read_bytes())
        newer[8] = 99  # the version follows the 8 bytes of the magic number
        for name, content in {"good": good, "twice": good, "newer": bytes(newer), "empty": b"", "header": good[:10],
                              "half": (SHIPPED / "jax_mlp.dlkcap").read_bytes()[:1_000_000]}.items():  # fmt: skip
            (ranks / f"{name}.dlkcap").write_bytes(content)
        subprocess.run([BUILD / "bin/bomb_capture", "names", ranks / "names.dlkcap"], check=True)
        with open(ranks / "endless.dlkcap", "wb") as file:  # nothing but a hole after its half
            file.write((SHIPPED / "cifar10_b512_sampled.dlkcap").read_bytes()[:100_000])
            file.truncate(10 << 30)
        before = time.monotonic()
        said = self.merge("job.sqlite", ranks)
        self.assertLess(time.monotonic() - before, 60 * (10 if os.environ.get("DLKPROF_SANITIZE") else 1))
        for words in ("newer.dlkcap", "version 99", "empty.dlkcap", "header.dlkcap", "given twice", "twice.dlkcap",
                      "were cut short or damaged"):  # fmt: skip
            self.assertIn(words, said)
        with sqlite3.connect(self.folder / "job.sqlite") as database:
            self.assertGreaterEqual(database.execute("SELECT count(*) FROM rank").fetchone()[0], 2, said)
            self.assertEqual(database.execute("SELECT count(*) FROM op WHERE length(name) > 5000").fetchone(), (0,))

    def test_reports_of_a_job(self):
        self.merge("job.sqlite", SHIPPED)
        ranks = self.dlkprof("report", "job.sqlite", "--reports", "ranks", "--format", "csv").stdout
        self.assertEqual(len(ranks.splitlines()), 1 + RANKS)
        self.assertIn("ranks on 1 host,", self.dlkprof("report", "job.sqlite").stdout)
        refused = self.dlkprof("report", "job.sqlite", "--reports", "detail", code=2).stderr
        self.assertIn("there is no report detail of a job", refused)

    def simulate(self, name, *words):
        capture = SHIPPED / "cifar10_b512_iteration.dlkcap"
        made = subprocess.run(
            [BUILD / "bin/simulated_job", capture, self.folder / name, "16", *words], stdout=subprocess.PIPE, check=True
        )
        return json.loads(made.stdout)

    def test_jobs_are_compared(self):
        self.simulate("good.sqlite", "healthy")
        planted = self.simulate("bad.sqlite")
        text = self.dlkprof("compare", "good.sqlite", "bad.sqlite").stdout
        self.assertIn("bad compared with good", text)
        tables = json.loads(self.dlkprof("compare", "good.sqlite", "bad.sqlite", "--format", "json").stdout)["tables"]
        self.assertEqual(set(tables), {"jobs", "ops", "ranks", "collectives", "findings"})
        slow = {row["Rank"]: row for row in tables["ranks"]["rows"] if row["Finding"]}
        self.assertEqual(set(slow), {planted["sleeps"], planted["slow"]})
        self.assertEqual(slow[planted["sleeps"]]["Op Name"], planted["op"])
        gate = self.folder / "gate.json"
        gate.write_text('{"schema": "dlkprof/gate/1", "rules": [{"time": "iteration", "max_increase_pct": 5}]}', encoding="utf-8")
        self.assertIn("gate broken", self.dlkprof("compare", "good.sqlite", "bad.sqlite", "--gate", gate, code=3).stderr)
        self.assertIn("gate kept", self.dlkprof("compare", "bad.sqlite", "good.sqlite", "--gate", gate).stderr)

    def test_a_job_is_exported(self):
        planted = self.simulate("job.sqlite")
        self.dlkprof("export", "job.sqlite", "--format", "perfetto")
        trace = PerfettoTrace(self.folder / "job.perfetto-trace")
        with sqlite3.connect(self.folder / "job.sqlite") as database:
            iterations, collectives, gpu_ns, collective_ns = (
                database.execute(f"SELECT {what}").fetchone()[0]
                for what in ("count(*) FROM rank_iteration", "count(*) FROM rank_collective", "sum(gpu_ns) FROM rank_op",
                             "sum(end_ns - start_ns) FROM rank_collective"))  # fmt: skip
        by_category = collections.Counter(one.category for one in trace.slices)
        self.assertEqual(by_category, {"iteration": iterations, "collective": collectives})
        self.assertEqual(sum("process" in track for track in trace.tracks.values()), 16)
        waited = collections.Counter()
        for one in trace.slices:
            if one.category == "collective":
                waited[one.args["last rank"]] += one.args["waited for others (ns)"]
        self.assertEqual(waited.most_common(1)[0][0], planted["sleeps"])
        self.dlkprof("export", "job.sqlite", "--format", "folded")
        lines = (self.folder / "job.folded").read_text(encoding="utf-8").splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), gpu_ns + collective_ns)
        self.dlkprof("export", "job.sqlite", "--format", "speedscope")
        profile = json.loads((self.folder / "job.speedscope.json").read_text(encoding="utf-8"))["profiles"][0]
        self.assertEqual(sum(profile["weights"]), gpu_ns + collective_ns)
        for form in ("kineto", "ncu-csv", "nsys-sqlite"):
            self.assertIn("has none", self.dlkprof("export", "job.sqlite", "--format", form, code=2).stderr)

    def test_a_job_is_not_compared_with_a_run(self):
        self.simulate("job.sqlite")
        said = self.dlkprof("compare", "job.sqlite", SHIPPED / "cifar10_b4.dlkcap", code=2).stderr
        self.assertIn("a job cannot be compared with a run", said)
        self.assertIn(
            "cannot be folded again", self.dlkprof("compare", "job.sqlite", "job.sqlite", "--iter_start", "3", code=2).stderr
        )

    def test_a_file_that_is_there_is_kept(self):
        (self.folder / "job.sqlite").write_text("mine")
        self.assertIn("--force", self.dlkprof("merge", SHIPPED, "-o", "job.sqlite", code=2).stderr)
        self.assertEqual((self.folder / "job.sqlite").read_text(), "mine")


@unittest.skipUnless(python_with_dask(), "Dask Distributed is not installed")
class MergeOnDaskTest(MergeTest):
    """Slow to start: Dask's workers take seconds."""

    def on_dask(self, *words):
        return self.dlkprof(
            "merge", SHIPPED, "-o", "dask.sqlite", "--engine", "dask", "--python", python_with_dask(), *words
        ).stderr

    def test_gives_the_same_as_one_machine(self):
        self.merge("local.sqlite", SHIPPED)
        self.on_dask()
        self.assertEqual(self.bytes_of("local.sqlite"), self.bytes_of("dask.sqlite"))
        self.assertEqual([path.name for path in self.folder.glob(".dask*")], [], "parts are gone")

    def start(self, *words):
        process = subprocess.Popen(
            [python_with_dask(), "-m", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self.addCleanup(process.wait)
        self.addCleanup(lambda: os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None)
        return process

    def test_a_worker_killed_changes_nothing(self):
        self.merge("local.sqlite", SHIPPED)
        sched = self.folder / "sched.json"
        self.start("distributed.cli.dask_scheduler", "--scheduler-file", str(sched), "--port", "0", "--no-dashboard")
        worker = [
            "distributed.cli.dask_worker",
            "--scheduler-file",
            str(sched),
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        ]
        doomed = self.start(*worker)
        for _ in range(300):
            if sched.exists() and sched.read_text(encoding="utf-8").strip():
                break
            time.sleep(0.1)
        address = json.loads(sched.read_text(encoding="utf-8"))["address"]

        def kill():
            for _ in range(600):
                if list(self.folder.glob(".dask*/0_*.sqlite")):
                    break
                time.sleep(0.02)
            os.killpg(doomed.pid, signal.SIGKILL)
            self.start(*worker)

        killer = threading.Thread(target=kill)
        killer.start()
        self.on_dask("--scheduler", address)
        killer.join()
        self.assertEqual(self.bytes_of("local.sqlite"), self.bytes_of("dask.sqlite"))
