"""`dlkprof sweep`: the program once with each combination of values, and the runs compared."""

import json
import os
import signal
import sqlite3

from harness import ADD, DLKPROF, PROGRAM, EndToEndTest

FAST = ["--replay-mode=none", "--verbosity=minimal"]
QUIET = ["--replay-mode=none", "--verbosity=quiet"]


class SweepTestCase(EndToEndTest):
    def sweep(self, *words, how=FAST):
        return self.dlkprof("sweep", *how, *words)

    def files(self, pattern):
        return sorted(path.name for path in self.folder.glob(pattern))

    def databases(self):
        return [name.removesuffix("_dldb.sqlite") for name in self.files("*_dldb.sqlite")]

    def refuse(self, *words, about):
        """Refused with one message, before anything is started."""
        done = self.sweep(*words)
        self.assertEqual((2, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)
        self.assertIn(about, done.stderr)

    def compared(self, done):
        """The runs of a comparison that `--format=json` printed after what the programs printed."""
        begin = done.stdout.find('{\n  "report"')
        self.assertGreaterEqual(begin, 0, done.stderr)
        return json.loads(done.stdout[begin:])["tables"]["runs"]["rows"]


class SweepTest(SweepTestCase):
    def test_every_combination_and_the_comparison(self):
        lists = ["-L", "batch_size", "10,12", "-L", "word", "a,b"]
        everything = [*FAST, "--iter_start=0"]  # which iterations are steady varies with the load of the machine
        done = self.sweep(*lists, "--format=json", "--", PROGRAM, "marked:{batch_size}", "print:{word} {} {x}", how=everything)
        self.assertEqual(0, done.code, done.stderr)
        runs = self.compared(done)
        labels = [f"batch_size={n} word={word}" for n in (10, 12) for word in "ab"]
        self.assertEqual(labels, [run["Run"] for run in runs])
        self.assertEqual([10, 10, 12, 12], [run["Batch Size"] for run in runs])
        self.assertEqual([11, 11, 13, 13], [run["Iterations"] for run in runs])
        for run in runs:
            self.assertAlmostEqual(run["Batch Size"] * 1e9 / run["Iteration Time (ns)"], run["Throughput (sample/s)"], places=5)
        bases = [f"dlkprof_batch_size-{n},word-{word}" for n in (10, 12) for word in "ab"]
        self.assertEqual(bases, self.databases())
        self.assertEqual([f"{base}.dlkcap" for base in bases], self.files("*.dlkcap"))
        told = [line for line in done.said() if line.startswith("dlkprof: run ")]
        self.assertEqual([f"dlkprof: run {i} of 4, {label}" for i, label in enumerate(labels, 1)], told)
        printed = [line for line in done.stdout.splitlines() if line.startswith("print ")]
        self.assertEqual(["print a {} {x}", "print b {} {x}"] * 2, printed)

    def test_the_comparison_is_that_of_compare(self):
        done = self.sweep("-L", "n", "10,12", "--", PROGRAM, "marked:{n}")
        again = self.dlkprof("compare", "dlkprof_n-10_dldb.sqlite", "dlkprof_n-12_dldb.sqlite", "--labels=n=10,n=12")
        self.assertEqual((0, 0), (done.code, again.code), done.stderr)
        self.assertTrue(done.stdout.endswith(again.stdout), done.stdout)
        self.assertIn("The whole run", again.stdout)
        alone = self.unprofiled("marked:10").stdout + self.unprofiled("marked:12").stdout
        self.assertEqual(alone, done.stdout.removesuffix(again.stdout))

    def test_the_comparison_as_files(self):
        words = ["-L", "n", "10,12", "--compare_formats=csv,json", "--output_path=out", "--", PROGRAM, "marked:{n}"]
        done = self.sweep(*words)
        alone = self.unprofiled("marked:10").stdout + self.unprofiled("marked:12").stdout
        self.assertEqual((0, alone), (done.code, done.stdout), done.stderr)
        names = {path.name for path in (self.folder / "out").iterdir()}
        self.assertLessEqual({"dlkprof_compare.csv", "dlkprof_compare.json", "dlkprof_n-10_dldb.sqlite"}, names)
        for file in (self.folder / "out").glob("*n-*"):
            file.unlink()
        self.refuse(*words, about="dlkprof_compare.csv is there already")

    def test_options_reach_every_run(self):
        words = ["-L", "n", "2,3", "-k", ADD, "--launch-count=1", "--samples=1", "--metrics=dram__bytes_read.sum"]
        done = self.dlkprof("sweep", *words, "--reports=metrics", "--", PROGRAM, "marked:{n}")
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual(["dlkprof_n-2_metrics.csv", "dlkprof_n-3_metrics.csv"], self.files("*_metrics.csv"))
        self.assertEqual([1, 1], [len(self.read(self.folder / name).rows) for name in self.files("*.dlkcap")])
        self.assertEqual(["dlkprof_n-2", "dlkprof_n-3"], self.databases())  # which -k alone would not write

    def test_hostile_values(self):
        values = ["../up/a", "x y", "$(touch hacked)", "\x1b[31mred\nline", "-f", "{v}", "4_2", "4", "l" * 3000]
        done = self.sweep("-L", "v", ",".join(values), "--", PROGRAM, "marked:3", "print:{v}")
        self.assertEqual(0, done.code, done.stderr)
        begin = 0
        for value in values:  # each as it is, in its turn
            begin = done.stdout.index(f"print {value}\n", begin)
        self.assertNotIn("\x1b", done.stderr)
        self.assertEqual(len(values), len(self.databases()))
        self.assertEqual(len(values), len(self.files("*.dlkcap")))
        self.assertEqual([], [path.name for path in self.folder.iterdir() if path.is_dir() or path.name == "hacked"])
        for name in self.files("*"):
            self.assertRegex(name, r"^[A-Za-z0-9%.+~_,-]{1,200}$")

    def test_mistakes_are_found_before_anything_starts(self):
        program = ["--", PROGRAM, "marked:{n}"]
        self.refuse("-L", "n", ",".join(map(str, range(17))), *program, about="at most 16 runs")
        self.refuse("-L", "n", "1,2", "-L", "m", "3", *program, about="no {m}")
        self.refuse("-L", "n", "1,2", "-k", "regex:(", *program, about="--kernel-name")
        self.assertEqual([], self.files("*"))
        (self.folder / "dlkprof_n-2.dlkcap").touch()
        self.refuse("-L", "n", "1,2", *program, about="dlkprof_n-2.dlkcap is there already")
        self.assertEqual(["dlkprof_n-2.dlkcap"], self.files("*"))
        self.assertEqual(0, self.sweep("-L", "n", "10,2", "--force", *program).code)


class SweepEndingsTest(SweepTestCase):
    def test_a_run_that_fails_in_the_middle(self):
        done = self.sweep("-L", "end", "print:a,exit:3,print:b,segv", "--format=json", "--", PROGRAM, "marked:10", "{end}")
        self.assertEqual(1, done.code, done.stderr)
        self.assertEqual(["end=print:a", "end=print:b"], [run["Run"] for run in self.compared(done)])
        self.assertIn("dlkprof: run 2 of 4, end=exit:3, failed: exit code 3\n", done.stderr)
        self.assertIn("dlkprof: run 4 of 4, end=segv, failed: ended by signal 11", done.stderr)
        self.assertIn("dlkprof: 2 of 4 runs are missing:\n  end=exit:3: failed, exit code 3\n  end=segv: failed", done.stderr)

    def test_programs_that_cannot_be_started_and_that_launch_nothing(self):
        done = self.sweep("-L", "p", f"./absent,/bin/true,{PROGRAM}", "--", "{p}", "marked:3")
        self.assertEqual((1, self.unprofiled("marked:3").stdout), (done.code, done.stdout), done.stderr)
        self.assertIn("p=./absent, failed: ./absent: No such file", done.stderr)
        self.assertIn("p=/bin/true, failed: it left nothing to compare", done.stderr)
        self.assertIn("there is nothing to compare", done.stderr)

    def test_one_value_is_nothing_to_compare(self):
        self.refuse("-L", "n", "3", "--", PROGRAM, "marked:{n}", about="Give two values")
        self.assertEqual([], self.files("*"))

    def test_a_forced_run_without_kernels_does_not_pass_for_the_one_before(self):
        words = ["-L", "n", "10,12", "--force", "--", "/bin/sh", "-c", f"test -e empty || exec {PROGRAM} marked:{{n}}"]
        self.assertEqual(0, self.sweep(*words).code)
        (self.folder / "empty").touch()
        done = self.sweep(*words)
        self.assertEqual((1, ""), (done.code, done.stdout), done.stderr)
        self.assertEqual([], self.databases())  # nor later, for --resume

    def test_a_comparison_that_fails_is_said(self):
        # The last of the programs takes away what the first one left.
        for last, end, code in ((2, 0, 1), (3, 3, 128 + signal.SIGTERM)):
            remove = f"test {{n}} != {last} || rm dlkprof_n-1_dldb.sqlite"
            text = f"{remove}; test {{n}} != {end} || kill -TERM $PPID; exec {PROGRAM} marked:10"
            done = self.sweep("-L", "n", ",".join(map(str, range(1, last + 1))), "--force", "--", "/bin/sh", "-c", text)
            self.assertEqual(code, done.code, done.stderr)
            self.assertIn("dlkprof: the runs cannot be compared: ", done.stderr)
            self.assertIn("dlkprof_n-1_dldb.sqlite", done.stderr)

    def test_each_program_ignores_the_same_signals(self):
        program = f"grep SigIgn /proc/self/status; exec {PROGRAM} marked:{{n}}"
        done = self.sweep("-L", "n", "10,12", "--", "/bin/sh", "-c", program)
        ignored = [line for line in done.stdout.splitlines() if line.startswith("SigIgn")]
        self.assertEqual((0, 2), (done.code, len(ignored)), done.stderr)
        self.assertEqual(ignored[0], ignored[1])

    def test_a_hangup_under_nohup_ends_nothing(self):
        words = ["-L", "n", "10,12", "--format=json", "--", PROGRAM, "print:ready", "sleep:100", "marked:{n}"]
        process = self.start([DLKPROF, "sweep", *FAST, *words], preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual("print ready\n", process.stdout.readline())
        os.killpg(process.pid, signal.SIGHUP)
        done = self.finish(process)
        self.assertEqual((0, 2), (done.code, len(self.compared(done))), done.stderr)

    def start_waiting(self, *steps):
        """A sweep of four runs, of which the third waits for a signal."""
        words = ["-L", "step", "print:a,print:b,wait,print:c", "--format=json", "--", PROGRAM, *steps, "marked:10", "{step}"]
        process = self.start([DLKPROF, "sweep", *FAST, *words])
        for line in process.stdout:
            if line.startswith("wait begins"):
                return process
        self.fail(f"the program never waited: {process.stderr.read()}")

    def check_ended(self, process, code, labels):
        done = self.finish(process)
        self.assertEqual(code, done.code, done.stderr)
        self.assertEqual(labels, [run["Run"] for run in self.compared(done)])
        self.assertNotIn("print c", done.stdout)
        self.assertIn("  step=print:c: not started\n", done.stderr)

    def test_interrupt_ends_the_sweep(self):
        process = self.start_waiting()
        os.killpg(process.pid, signal.SIGINT)
        self.check_ended(process, 128 + signal.SIGINT, ["step=print:a", "step=print:b"])

    def test_interrupt_that_the_program_handles_ends_the_sweep(self):
        process = self.start_waiting("catch_interrupt")
        os.killpg(process.pid, signal.SIGINT)
        self.check_ended(process, 128 + signal.SIGINT, ["step=print:a", "step=print:b", "step=wait"])

    def test_who_ends_dlkprof_ends_the_program_and_the_sweep(self):
        process = self.start_waiting()
        process.send_signal(signal.SIGTERM)
        self.check_ended(process, 128 + signal.SIGTERM, ["step=print:a", "step=print:b"])

    def test_a_program_that_is_ended_alone_does_not_end_the_sweep(self):
        done = self.sweep("-L", "n", "1,2,3", "--", "/bin/sh", "-c", f"test {{n}} != 2 || kill -INT $$; exec {PROGRAM} marked:10")
        self.assertEqual(1, done.code, done.stderr)
        self.assertIn("1 of 3 runs are missing:\n  n=2: failed, ended by signal 2", done.stderr)


class SweepResumeTest(SweepTestCase):
    # The program notes that it ran, and fails where there is a file fail-{n}.
    PROGRAM = ["--", "/bin/sh", "-c", f"echo {{n}} >> ran; test ! -e fail-{{n}} || exit 3; exec {PROGRAM} marked:1{{n}} $@", "sh"]

    def resume(self, *words, program=None, how=FAST):
        """What ran, and the outcome."""
        (self.folder / "ran").unlink(missing_ok=True)
        done = self.sweep("-L", "n", "1,2,3", "--format=json", *words, *(program or self.PROGRAM), how=how)
        ran = self.folder / "ran"
        return ran.read_text(encoding="utf-8").split() if ran.exists() else [], done

    def test_only_what_is_missing_is_run(self):
        (self.folder / "fail-2").touch()
        ran, done = self.resume("--resume")
        self.assertEqual((["1", "2", "3"], 1), (ran, done.code), done.stderr)
        (self.folder / "fail-2").unlink()
        (self.folder / "dlkprof_n-3_dldb.sqlite").unlink()  # as if dlkprof had been killed: the capture alone
        before = (self.folder / "dlkprof_n-1_dldb.sqlite").read_bytes()
        ran, done = self.resume("--resume")
        self.assertEqual((["2", "3"], 0), (ran, done.code), done.stderr)
        self.assertEqual(["n=1", "n=2", "n=3"], [run["Run"] for run in self.compared(done)])
        self.assertIn("dlkprof: run 1 of 3, n=1: is there already\n", done.stderr)
        self.assertEqual(before, (self.folder / "dlkprof_n-1_dldb.sqlite").read_bytes())
        ran, done = self.resume("--resume", how=QUIET)
        self.assertEqual(([], 0, ""), (ran, done.code, done.stderr))
        self.assertEqual(3, len(self.compared(done)))

    def test_a_run_that_measured_and_then_failed_is_made_again(self):
        program = ["--", "/bin/sh", "-c", f"{PROGRAM} marked:10; echo {{n}} >> ran; test ! -e fail-{{n}}"]
        (self.folder / "fail-2").touch()
        ran, done = self.resume(program=program)
        self.assertEqual((["1", "2", "3"], 1), (ran, done.code), done.stderr)
        (self.folder / "fail-2").unlink()
        ran, done = self.resume("--resume", program=program)
        self.assertEqual((["2"], 0), (ran, done.code), done.stderr)

    def test_a_run_that_was_told_to_end_is_made_again(self):
        told = "test ! -e told-{n} || { trap '' TERM; kill -TERM $PPID; }"
        program = ["--", "/bin/sh", "-c", f"echo {{n}} >> ran; {told}; exec {PROGRAM} marked:10"]
        (self.folder / "told-2").touch()
        ran, done = self.resume(program=program)
        self.assertEqual((["1", "2"], 128 + signal.SIGTERM), (ran, done.code), done.stderr)
        self.assertEqual(["n=1", "n=2"], [run["Run"] for run in self.compared(done)])  # it ended with 0
        (self.folder / "told-2").unlink()
        ran, done = self.resume("--resume", program=program)
        self.assertEqual((["2", "3"], 0), (ran, done.code), done.stderr)

    def test_what_was_folded_otherwise_since_is_folded_again(self):
        words = ["--iter_start=1", "--iter_stop=8"]
        _, done = self.resume(*words)
        compared = self.compared(done)
        self.assertEqual([8] * 3, [run["Iterations"] for run in compared])
        self.dlkprof("--database=dlkprof_n-2_dldb.sqlite", "--iter_start=2", "--iter_stop=3")
        for said in (": is there already, and is folded again\n", ": is there already\n"):
            ran, done = self.resume(*words, "--resume")
            self.assertEqual(([], 0, compared), (ran, done.code, self.compared(done)), done.stderr)
            self.assertIn(f"dlkprof: run 2 of 3, n=2{said}", done.stderr)

    def test_what_is_of_another_command_stays(self):
        _, done = self.resume()
        self.assertEqual(0, done.code, done.stderr)
        databases = {name: (self.folder / name).read_bytes() for name in self.files("*_dldb.sqlite")}
        for words, program in (
            (["--resume"], [*self.PROGRAM, "init"]),
            (["--resume", "--key_node=/Net/features.0"], None),
            (["--resume", "--keep-counters"], None),
            ([], None),
        ):
            ran, done = self.resume(*words, program=program)
            self.assertEqual(([], 2, ""), (ran, done.code, done.stdout), done.stderr)
            self.assertIn("--force", done.stderr)
        self.assertEqual(databases, {name: (self.folder / name).read_bytes() for name in databases})
        ran, done = self.resume("--resume", "--force", program=[*self.PROGRAM, "init"])
        self.assertEqual((["1", "2", "3"], 0), (ran, done.code), done.stderr)
        ran, done = self.resume("--resume", "--force", program=[*self.PROGRAM, "init"])
        self.assertEqual(([], 0), (ran, done.code), done.stderr)

    def test_the_database_says_how_the_program_ended(self):
        self.sweep("-L", "n", "0,5", "--", PROGRAM, "marked:3", "exit:{n}")
        for code in (0, 5):
            with sqlite3.connect(self.folder / f"dlkprof_n-{code}_dldb.sqlite") as database:
                rows = database.execute("SELECT value FROM fact WHERE source = 'dlkprof' AND name = 'exit_code'").fetchall()
            self.assertEqual([(str(code),)], rows)

    def test_a_dry_run_says_what_is_there(self):
        self.sweep("-L", "n", "1,3", "--", PROGRAM, "marked:{n}")
        done = self.sweep("-L", "n", "1,2", "--resume", "--dry-run", "--", PROGRAM, "marked:{n}")
        kept, missing = done.stdout.splitlines()
        self.assertEqual(f"./dlkprof_n-1_dldb.sqlite (is there already): {PROGRAM} marked:1", kept)
        self.assertEqual(f"./dlkprof_n-2_dldb.sqlite: {PROGRAM} marked:2", missing)
        self.assertEqual((0, ["dlkprof_n-1", "dlkprof_n-3"]), (done.code, self.databases()))
