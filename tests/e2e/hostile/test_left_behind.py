"""What is left of dlkprof when it is told to end: whole files, or none."""

import os
import pathlib
import signal
import time

from harness import BUILD, DLKPROF, SOURCE, EndToEndTest

CAPTURE = SOURCE / "samples/captures/jax_mlp.dlkcap"


class LeftBehindTest(EndToEndTest):
    def hidden(self):
        return sorted(path.name for path in self.folder.iterdir() if path.name.startswith("."))

    def test_being_ended_while_files_are_written(self):
        command = (DLKPROF, f"--database={CAPTURE}", "--reports=all", "--formats=csv,json", "--force")
        begin = time.monotonic()
        self.assertEqual(0, self.run_command(*command).code)
        whole = time.monotonic() - begin
        interrupted = 0
        for i in range(24):
            for path in self.folder.glob("dlkprof*"):
                path.unlink()
            process = self.start(command)
            time.sleep(whole * (i + 1) / 25)
            os.kill(process.pid, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3])
            interrupted += self.finish(process).code > 128
            self.assertEqual([], self.hidden())
            for database in self.folder.glob("*.sqlite"):
                self.report(database, "--reports=summary")
        self.assertGreater(interrupted, 0)

    def test_what_a_killed_one_left_goes_with_the_next(self):
        old = time.time() - 7200
        ended = self.start(["/bin/true"])
        self.finish(ended)
        for name, when, stays in ((f".dlkprof_dldb.sqlite.{ended.pid}.0.tmp", old, False),
                                  (f".dlkprof_dldb.sqlite.{os.getpid()}.0.tmp", old, True),
                                  (f".dlkprof_dldb.sqlite.{ended.pid}.1.tmp", time.time(), True),
                                  (f".another.{ended.pid}.0.tmp", old, True)):  # fmt: skip
            path = self.folder / name
            path.write_text("left")
            os.utime(path, (when, when))
            self.assertEqual(0, self.dlkprof(f"--database={CAPTURE}", "--force").code)
            self.assertEqual(stays, path.exists(), name)
            path.unlink(missing_ok=True)


class TrueSentencesTest(EndToEndTest):
    def test_no_capture_says_why_there_may_be_none(self):
        done = self.profile("print:none")
        self.assertEqual(0, done.code)
        self.assertIn("no capture was made", done.stderr)
        self.assertIn("clears its environment", done.stderr)

    def test_another_tool_that_is_not_loaded_is_named(self):
        done = self.profile("train:1", env={"CUDA_INJECTION64_PATH": "/opt/other.so", "NVTX_INJECTION64_PATH": ""})
        self.assertEqual(0, done.code)
        self.assertIn("CUDA_INJECTION64_PATH is /opt/other.so", done.stderr)
        self.assertNotIn("NVTX_INJECTION64_PATH", done.stderr)

    def test_a_folder_that_is_no_utf8(self):
        folder = os.fsencode(self.folder) + b"/\xff"
        os.mkdir(folder)
        done = self.run_command("/bin/sh", "-c", 'cd "$1"/* && exec "$2" /bin/true', "sh", self.folder, DLKPROF)
        self.assertEqual(2, done.code)
        self.assertIn("the folder's name is not UTF-8", done.stderr)
        self.assertIn("--output_path", done.stderr)
        self.assertNotIn("json", done.stderr)

    def installed(self, name, *without):
        """The build tree again under another name, but for some of it."""
        root = self.folder / name
        (root / "bin").mkdir(parents=True)
        os.link(DLKPROF, root / "bin/dlkprof") if os.stat(DLKPROF).st_dev == os.stat(root).st_dev else self.copy(root)
        for part in {"lib", "share"} - set(without):
            (root / part).symlink_to(BUILD / part)
        return root / "bin/dlkprof"

    def copy(self, root):
        (root / "bin/dlkprof").write_bytes(pathlib.Path(DLKPROF).read_bytes())
        (root / "bin/dlkprof").chmod(0o755)

    def test_an_installation_in_a_folder_with_a_colon(self):
        done = self.run_command(self.installed("a:b"), "--mode=pytorch", "/bin/true")
        self.assertEqual(2, done.code, done.stderr)
        self.assertIn("colon", done.stderr)

    def test_a_binary_without_its_share(self):
        done = self.run_command(self.installed("alone", "share"), "metrics", "--list-sets")
        self.assertEqual(1, done.code)
        self.assertIn("Keep bin/, lib/ and share/", done.stderr)

    def test_help_that_cannot_be_written(self):
        for words in ("--help", "--version", "report --help"):
            for to in ("/dev/full", "&-"):
                done = self.run_command("/bin/sh", "-c", f'exec "$1" {words} >{to}', "sh", DLKPROF)
                self.assertEqual(1, done.code, (words, to))
                self.assertIn("stdout cannot be written", done.stderr)

    def test_a_capture_that_nobody_may_read_has_a_remedy(self):
        path = self.folder / "theirs.dlkcap"
        path.write_bytes(CAPTURE.read_bytes())
        path.chmod(0)
        if os.access(path, os.R_OK):
            self.skipTest("root may read everything")
        self.assertIn("Ask its owner", self.dlkprof("report", path).stderr)


class OthersFilesTest(EndToEndTest):
    def test_one_bad_capture_is_said_and_left_out(self):
        self.profile("train:2", options=["--base_name=run"])
        (self.folder / "run_7.dlkcap").write_text("no capture")
        done = self.dlkprof("report", ".", "--base_name=run", "--reports=summary")
        self.assertEqual(0, done.code, done.stderr)
        self.assertIn("run_7.dlkcap is not a capture", done.stdout + done.stderr)
        (self.folder / "run.dlkcap").unlink()
        self.assertEqual(1, self.dlkprof("report", ".", "--base_name=run").code, "none is good")

    def test_captures_of_others_are_no_part_of_the_run(self):
        """Laid there while the program runs."""
        plant = f"cp {CAPTURE} dlkprof_77.dlkcap && chown 65534 dlkprof_77.dlkcap; ln -s {CAPTURE} dlkprof_78.dlkcap"
        done = self.dlkprof("/bin/sh", "-c", f"{plant}; exec {BUILD}/fakes/fake_program train:1")
        self.assertEqual(0, done.code, done.stderr)
        for name in ["dlkprof_78.dlkcap"] + ["dlkprof_77.dlkcap"] * (os.geteuid() == 0):
            self.assertIn(f"{name} is left out", done.stderr)
        self.assertIn("6 launches", done.stderr)
