"""Mistakes of the user are found before the program starts, and one message says what and where."""

import os
import pty
import resource
import shutil
import subprocess
import unittest

from harness import ADD, BUILD, DLKPROF, METRICS, PROGRAM, EndToEndTest


class UsageTest(EndToEndTest):
    def refuse(self, *options, words, program=(PROGRAM, "print:started"), code=2):
        done = self.dlkprof(*options, *program)
        self.assertEqual((code, ""), (done.code, done.stdout), done.stderr)
        self.assertEqual(1, len(done.said()), done.stderr)
        self.assertTrue(done.stderr.startswith("dlkprof: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual([], [path.name for path in self.folder.iterdir() if path.name != "journal"])
        return done

    def test_pattern_that_is_wrong(self):
        done = self.refuse("-k", "regex:gemm(", words=["--kernel-name", "gemm("])
        line = next(i for i, text in enumerate(done.stderr.splitlines()) if "regex:gemm(" in text)
        pointing = done.stderr.splitlines()[line + 1]
        self.assertEqual("^", pointing.strip())
        self.assertEqual(done.stderr.splitlines()[line].index("regex:gemm(") + len("regex:gemm("), pointing.index("^"))

    def test_kernel_id_with_too_few_fields(self):
        self.refuse("--kernel-id=gemm", words=["--kernel-id", "too few fields"])

    def test_unknown_names(self):
        for options, words in (
            (["--metrics=sm__cycles_activ.avg"], ["sm__cycles_activ.avg", "sm__cycles_active"]),
            (["--section=ocupancy"], ["ocupancy", "occupancy"]),
            (["--set=basik"], ["basik", "basic"]),
            (["--kernel-nam=x"], ["--kernel-nam", "--kernel-name"]),
            (["--filter-mode=sometimes"], ["--filter-mode", "per-gpu"]),
            (["--replay-mode=twice"], ["--replay-mode", "kernel"]),
            (["--reports=metrix"], ["metrix"]),
            (["--reports=metrics", "--formats=xls"], ["xls"]),
            (["--samples=0"], ["--samples"]),
            (["--samples=some"], ["--samples"]),
            (["--devices=0,x"], ["--devices"]),
            (["--launch-count=-1"], ["--launch-count: -1 is not a number from 0 on"]),
            (["--launch-count=three"], ["--launch-count: three is not a number"]),
            (["--delay=nan"], ["nan is not a number from 0 on"]),
            (["--verbosity=loud"], ["--verbosity"]),
            (["--stacks"], ["--stacks", "Add --mode pytorch"]),
            (["--base_name=a/b"], ["a/b"]),
            (["--iter_kind", ""], ["--iter_kind: nothing is given", "The report iterations of a run lists its kinds"]),
            (["--iter_kind="], ["--iter_kind"]),
        ):
            with self.subTest(options=options):
                self.refuse(*options, words=words)

    def test_unknown_chip(self):
        done = self.dlkprof("metrics", "--chip=GH1000", "--query=sm__")
        self.assertEqual((2, ""), (done.code, done.stdout), done.stderr)
        self.assertIn("GH100", done.stderr)

    def test_no_program(self):
        self.refuse("-k", ADD, words=["program"], program=())

    def test_program_that_is_not_there(self):
        self.refuse(words=["no-such-program"], program=["./no-such-program"], code=127)

    def test_program_that_cannot_be_run(self):
        script = self.folder / "journal"  # a name that refuse() passes over
        script.write_text("#!/bin/sh\n", encoding="utf-8")
        script.chmod(0o644)
        self.refuse(words=["journal"], program=[script], code=126)

    def test_capture_that_is_there(self):
        self.profile("train:1", options=["-k", ADD])
        before = (self.folder / "dlkprof.dlkcap").read_bytes()
        done = self.dlkprof(PROGRAM, "print:started")
        self.assertEqual((2, ""), (done.code, done.stdout), done.stderr)
        self.assertIn("--force", done.stderr)
        self.assertEqual(before, (self.folder / "dlkprof.dlkcap").read_bytes())

    def test_report_of_no_capture(self):
        (self.folder / "text.dlkcap").write_text("no capture\n", encoding="utf-8")
        for file in ("text.dlkcap", "absent.dlkcap", "."):
            with self.subTest(file=file):
                done = self.dlkprof("report", file)
                self.assertIn(done.code, (1, 2))
                self.assertEqual(("", 1), (done.stdout, len(done.said())), done.stderr)

    def test_help_and_version(self):
        for word in ("--help", "--version"):
            done = self.dlkprof(word)
            self.assertEqual((0, ""), (done.code, done.stderr))
            self.assertIn("dlkprof", done.stdout)

    def test_help_of_a_verb(self):
        texts = [self.dlkprof(*words).stdout for words in (["help", "report"], ["--help", "report"], ["report", "--help"])]
        self.assertEqual(texts[:1] * 3, texts)
        self.assertTrue(texts[0].startswith("Usage:\n  dlkprof report "), texts[0])
        self.assertEqual(self.dlkprof("--help").stdout, self.dlkprof("help").stdout)

    def test_version_says_what_was_built(self):
        self.assertRegex(
            self.dlkprof("--version").stdout,
            r"^dlkprof \d+\.\d+\.\d+ \((commit [0-9a-f]{10}, )?built with CUDA \d+\.\d+ and CUPTI \d+\)\n$",
        )

    def test_nothing_but_the_name(self):
        done = self.dlkprof()
        self.assertEqual((2, ""), (done.code, done.stdout))
        for word in ("report", "compare", "sweep", "demo", "metrics", "doctor", "dlkprof help"):
            self.assertIn(word, done.stderr)

    def test_verbs_that_are_mistyped(self):
        for word, meant in (("reprot", "dlkprof report"), ("Report", "dlkprof report"), ("version", "dlkprof --version"),
                            ("comapre", "dlkprof compare")):  # fmt: skip
            with self.subTest(word=word):
                self.refuse(words=[word, f"Did you mean {meant}?"], program=[word, "x.dlkcap"])
        script = self.folder / "journal"  # a program of such a name is run
        script.write_text("#!/bin/sh\necho it ran\n", encoding="utf-8")
        script.chmod(0o755)
        script.rename(self.folder / "reprot")
        done = self.dlkprof("reprot", env={"PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual((0, "it ran\n"), (done.code, done.stdout), done.stderr)

    def test_flags_take_true_and_false(self):
        (self.folder / "dlkprof.dlkcap").write_text("in the way\n", encoding="utf-8")
        for options in (["-f", "true"], ["--force", "true"], ["--force=true"], ["--dump_model_data", "false", "-f"]):
            with self.subTest(options=options):
                done = self.dlkprof(*options, PROGRAM, "print:started")
                self.assertEqual((0, "print started\n"), (done.code, done.stdout), done.stderr)
        (self.folder / "dlkprof.dlkcap").write_text("in the way\n", encoding="utf-8")
        done = self.dlkprof("-f", "false", PROGRAM, "print:started")
        self.assertEqual((2, ""), (done.code, done.stdout), done.stderr)
        self.assertIn("is there already", done.stderr)
        for word in ("yes", "1", "on"):  # /usr/bin/yes would never end
            done = self.dlkprof("-f", word, PROGRAM, "print:started")
            self.assertEqual((2, ""), (done.code, done.stdout), done.stderr)
            self.assertIn("--force=true", done.stderr)

    def test_options_of_other_tools(self):
        for options, words in (
            (["--file_formats=csv"], ["DLProf", "--formats"]),
            (["--nsys_opts=-t cuda"], ["DLProf", "leave it out"]),
            (["--mode=trtexec"], ["--mode tensorrt"]),
            (["--print-summary", "per-nvtx"], ["Nsight Compute", "--reports"]),
            (["-o", "x"], ["--base_name"]),
            (["--replay-mode", "application"], ["--replay-mode kernel"]),
        ):
            with self.subTest(options=options):
                self.refuse(*options, words=words)

    def test_reports_with_blanks_between_them(self):
        done = self.dlkprof("--reports", "detail", "kernel", "--", PROGRAM, "marked:3")
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual(self.unprofiled("marked:3").stdout, done.stdout)
        self.assertEqual(["dlkprof_detail.csv", "dlkprof_kernel.csv"], sorted(path.name for path in self.folder.glob("*.csv")))

    def test_cupti_that_is_asked_for_and_is_not_there(self):
        absent = "/no/such/libcupti.so"
        self.refuse("--cupti-path", absent, words=["--cupti-path", absent])
        self.refuse("--cupti-path", absent, words=["--cupti-path", absent], program=["--dry-run", "--chip=GH100"])
        for words in (["metrics", "--list-sets"], ["demo"], ["report", "dlkprof.dlkcap"]):
            done = self.dlkprof(*words, "--cupti-path", absent)
            self.assertEqual((2, ""), (done.code, done.stdout), done.stderr)
            self.assertIn(absent, done.stderr)
        done = self.dlkprof("doctor", "--cupti-path", absent)
        self.assertEqual(1, done.code)
        self.assertRegex(done.stdout, f"FAIL  CUPTI .*{absent}")
        toolkit = self.environment()["CUDA_HOME"]
        self.assertRegex(self.dlkprof("doctor", "--cupti-path", toolkit).stdout, f"ok    CUPTI .*{toolkit}")

    def test_a_selector_that_matches_nothing(self):
        done = self.dlkprof("-k", "regex:nomatch", PROGRAM, "marked:3")
        self.assertEqual(0, done.code, done.stderr)
        named = " ".join(done.stderr[done.stderr.index("None was matched; launched most: ") :].split("\n\n")[0].split())
        named = named.removeprefix("None was matched; launched most: ").split(", ")
        self.assertLessEqual({ADD, "rotate", "Kernel2"}, {one.split(" (")[0] for one in named})
        counts = [int(one.split(" (")[1].rstrip(")")) for one in named]
        self.assertEqual(sorted(counts, reverse=True), counts)
        self.assertNotIn("None was matched", self.dlkprof("-f", "-k", ADD, PROGRAM, "marked:3").stderr)

    def test_kernels_alone_leave_no_ops(self):
        done = self.dlkprof("-k", ADD, PROGRAM, "marked:3")
        self.assertEqual(0, done.code, done.stderr)
        self.assertIn("add --mode pytorch", done.stderr.splitlines()[-1])
        for report in ("detail", "expert_systems", "kernel", "iteration", "tensor", "group_node", "bottleneck", "op_type"):
            with self.subTest(report=report):
                asked = self.dlkprof("report", "dlkprof.dlkcap", "--reports", report)
                self.assertEqual((1, ""), (asked.code, asked.stdout), asked.stderr)
                self.assertIn(f"the report {report} is of ops, and none were recorded", asked.stderr)
                self.assertIn("--mode pytorch", asked.stderr)
                self.assertNotIn("--section", asked.stderr)
        self.assertEqual(0, self.dlkprof("report", "dlkprof.dlkcap", "--reports", "metrics,coverage").code)
        for options in (["--timeline=off"], ["--timeline=on"]):  # who names it knows
            done = self.dlkprof("-f", "-k", ADD, *options, PROGRAM, "marked:3")
            self.assertNotIn("add --mode pytorch", done.stderr)

    def test_a_report_without_rows_says_why(self):
        self.dlkprof("--replay-mode=none", PROGRAM, "marked:3")
        for report, why in (("sampling", "--replay-mode sample"), ("measured", "no launch was measured")):
            done = self.dlkprof("report", "dlkprof_dldb.sqlite", "--reports", report, "--format", "csv")
            self.assertEqual(0, done.code, done.stderr)
            self.assertIn(f"the report {report} has no rows: ", done.stderr)
            self.assertIn(why, done.stderr)

    def test_files_that_are_not_there(self):
        (self.folder / "batch4.dlkcap").touch()
        for words in (["report", "bacth4.dlkcap"], ["compare", "bacth4.dlkcap", "batch4.dlkcap"], ["--database=bacth4.dlkcap"]):
            done = self.dlkprof(*words)
            self.assertEqual((1, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)
            self.assertIn("there is no file bacth4.dlkcap", done.stderr)
            self.assertIn("Did you mean batch4.dlkcap?", done.stderr)
        done = self.dlkprof("report", "absent_dldb.sqlite")
        self.assertNotIn("cannot read", done.stderr)
        done = self.dlkprof("report", ".")
        self.assertEqual(2, done.code)
        self.assertIn("only batch4.dlkcap", done.stderr)

    def test_the_table_of_sets_fits_the_page(self):
        text = self.dlkprof("metrics", "--chip=GH100", env={"COLUMNS": "80"}).stdout
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_progress_leaves_the_programs_output_alone(self):
        # Both write to one terminal: every line of the program begins where a line begins, and nothing moves the cursor.
        steps = ["marked:30", *["print:x", "sleep:1500"] * 3, "print:y"]
        main, terminal = pty.openpty()
        process = subprocess.Popen(
            [DLKPROF, "--replay-mode=kernel", "--samples=all", f"--metrics={','.join(METRICS)}", PROGRAM, *steps],
            cwd=self.folder, env=self.environment(TERM="xterm"), stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal,
        )  # fmt: skip
        os.close(terminal)
        shown = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the last writer has gone
                break
            if not piece:
                break
            shown += piece
        os.close(main)
        self.assertEqual(0, process.wait(), shown)
        lines = shown.decode().split("\r\n")
        self.assertIn("kernels measured", shown.decode())
        self.assertEqual(4, len([line for line in lines if line in ("print x", "print y")]), lines)
        for line in lines:
            self.assertNotIn("\r", line)
            self.assertNotIn("\x1b[K", line)


class FishCompletionTest(EndToEndTest):
    """What `dlkprof completion fish` prints, in fish."""

    def complete(self, line):
        """What a tab gives after this line."""
        script = '"$argv[1]" completion fish | source; complete -C "$argv[2]"'
        done = self.run_command("fish", "-c", script, DLKPROF, line, env={"HOME": str(self.folder)})
        self.assertEqual((0, ""), (done.code, done.stderr))
        return [shown.split("\t")[0] for shown in done.stdout.splitlines()]

    def test_verbs_options_and_their_words(self):
        self.assertIn("report", self.complete("dlkprof rep"))
        self.assertEqual(["--replay-mode"], self.complete("dlkprof --replay"))
        self.assertEqual(["iteration"], self.complete("dlkprof --replay-mode it"))
        self.assertEqual(["detail,kernel", "detail,kernels"], self.complete("dlkprof --reports detail,ker"))
        self.assertEqual(["json"], self.complete("dlkprof compare --format js"))
        self.assertNotIn("--replay-mode", self.complete("dlkprof report --re"))


class CompletionTest(EndToEndTest):
    """What `dlkprof completion bash` prints, in bash."""

    def complete(self, *words):
        """What a tab gives after these words, the last of which is being typed."""
        script = (
            'source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dlkprof_complete; '
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = self.run_command("bash", "-c", script, DLKPROF, "dlkprof", *words)
        self.assertEqual((0, ""), (done.code, done.stderr))
        return done.stdout.split()

    def test_verbs_options_and_their_words(self):
        self.assertIn("report", self.complete("rep"))
        self.assertEqual(["--replay-mode"], self.complete("--replay"))
        self.assertEqual(["iteration"], self.complete("--replay-mode", "it"))
        self.assertEqual(["iteration"], self.complete("--replay-mode", "=", "it"))
        self.assertEqual(["detail,kernel", "detail,kernels"], self.complete("--reports", "detail,ker"))
        self.assertEqual(["expert_systems"], self.complete("report", "--reports", "exp"))
        self.assertEqual(["json"], self.complete("compare", "--format", "js"))
        self.assertEqual(["speed_of_light"], self.complete("--section", "spe"))
        self.assertEqual(["doctor"], self.complete("help", "doc"))

    def test_files_and_programs(self):
        (self.folder / "run.dlkcap").touch()
        self.assertEqual(["run.dlkcap"], self.complete("report", "run"))
        self.assertEqual(["run.dlkcap"], self.complete("-k", "x", "-f", "sh", "run"))
        self.assertIn("bash", self.complete("-f", "bas"))
        self.assertEqual([], self.complete("-f", "sh", "--replay"))  # an option of the program


def can_become_nobody():
    """Whether we are root, have setpriv, and somebody else may read the build."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return False
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", DLKPROF, "--version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class PlacesTest(EndToEndTest):
    """Where the capture cannot be written."""

    def run_as_nobody(self, *words):
        if os.geteuid() != 0:
            return self.run_command(*words)
        if not can_become_nobody():
            raise unittest.SkipTest(f"root may write everywhere, and nobody else can reach {BUILD}")
        return self.run_command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words)

    def test_folder_that_is_read_only(self):
        self.folder.chmod(0o755)
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        done = self.run_as_nobody(DLKPROF, f"--output_path={closed}", PROGRAM, "print:started")
        self.assertEqual((2, ""), (done.code, done.stdout), done.stderr)
        self.assertEqual(1, len(done.said()), done.stderr)
        self.assertIn("--output_path", done.stderr)

    def test_folder_that_is_a_file(self):
        (self.folder / "file").touch()
        done = self.dlkprof("--output_path=file", PROGRAM, "print:started")
        self.assertEqual((2, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)

    def test_folder_that_vanishes_meanwhile(self):
        alone = self.run_command("/bin/sh", "-c", f"{PROGRAM} train:2; exit 5")
        done = self.dlkprof("--output_path=out", "/bin/sh", "-c", f"rm -r out; {PROGRAM} train:2; exit 5")
        self.assertEqual((5, alone.stdout), (done.code, done.stdout), done.stderr)
        self.assertEqual(1, len([line for line in done.said() if "out" in line]), done.stderr)

    def check_full(self, done, steps):
        alone = self.unprofiled(*steps)
        self.assertEqual((alone.code, alone.stdout), (done.code, done.stdout), done.stderr)
        about = [line for line in done.said() if "cannot write the capture" in line]
        self.assertEqual(1, len(about), done.stderr)
        self.assert_no_misuse()

    def test_full_disk(self):
        steps = ("train:30", "exit:9")
        options = [f"--metrics={','.join(METRICS)}", "--samples=all", "--verbosity=minimal"]
        for limit in (10, 100, 3000, 6000):
            with self.subTest(limit=limit):
                out = self.folder / f"out{limit}"
                done = self.run_command(
                    DLKPROF, *options, f"--output_path={out}", PROGRAM, *steps,
                    preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
                    env={"FAKE_JOURNAL": "/dev/null"},
                )  # fmt: skip
                self.check_full(done, steps)
                for path in out.glob("*.dlkcap"):
                    self.assertLessEqual(path.stat().st_size, limit)
                    self.read(path)
