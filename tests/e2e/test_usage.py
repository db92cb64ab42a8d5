"""Mistakes of the user are found before the program starts, and one message says what and where."""

import os
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
            (["--base_name=a/b"], ["a/b"]),
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
