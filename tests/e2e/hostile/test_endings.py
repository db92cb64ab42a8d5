"""However the program ends: its exit code is passed on, and what was measured can be read."""

import os
import signal
import time

from harness import ADD, DLKPROF, METRICS, PROGRAM, EndToEndTest

OPTIONS = ["-k", ADD, "--replay-mode=kernel", "--samples=all"]


class EndingsTest(EndToEndTest):
    def check_ending(self, *steps, code, ended):
        done = self.profile_unharmed("train:3", *steps, options=OPTIONS)
        self.assertEqual(code, done.code)
        capture = self.capture()
        self.assertEqual([0, 6, 12], [row["ID"] for row in capture.rows])
        self.assertEqual("yes" if ended else "no", capture.summary["ended"])
        return done

    def test_return_from_main(self):
        self.check_ending(code=0, ended=True)

    def test_exit(self):
        self.check_ending("exit:41", code=41, ended=True)

    def test_exit_without_handlers(self):
        self.check_ending("_exit:42", code=42, ended=False)

    def test_abort(self):
        self.check_ending("abort", code=128 + signal.SIGABRT, ended=False)

    def test_crash(self):
        done = self.check_ending("segv", code=128 + signal.SIGSEGV, ended=False)
        self.assertIn("signal 11", done.stderr)

    def test_kill(self):
        self.check_ending("kill", code=128 + signal.SIGKILL, ended=False)

    def start_waiting(self, *steps):
        """A profile whose program has measured and waits for a signal."""
        process = self.start([DLKPROF, *OPTIONS, f"--metrics={METRICS[0]}", PROGRAM, "train:3", *steps, "wait", "exit:3"])
        for line in process.stdout:
            if line.startswith("wait begins"):
                return process
        self.fail(f"the program never waited: {process.stderr.read()}")

    def check_waiting(self, process, code):
        done = self.finish(process)
        self.assertEqual(code, done.code, done.stderr)
        self.assertEqual(3, len(self.capture().rows))
        self.assert_no_misuse()

    def test_interrupt_that_the_program_handles(self):
        process = self.start_waiting("catch_interrupt")
        os.killpg(process.pid, signal.SIGINT)
        self.check_waiting(process, 3)

    def test_interrupt_that_ends_the_program(self):
        process = self.start_waiting()
        os.killpg(process.pid, signal.SIGINT)
        self.check_waiting(process, 128 + signal.SIGINT)

    def test_signal_sent_to_dlkprof_goes_to_the_program(self):
        process = self.start_waiting()
        process.send_signal(signal.SIGTERM)
        self.check_waiting(process, 128 + signal.SIGTERM)

    def test_interrupt_of_dlkprof_alone(self):
        process = self.start_waiting("catch_interrupt")
        process.send_signal(signal.SIGINT)
        self.check_waiting(process, 3)

    def test_dlkprof_killed(self):
        process = self.start_waiting("catch_interrupt")
        process.kill()
        process.wait()
        os.killpg(process.pid, signal.SIGINT)  # the program lives on, and ends as it likes
        for _ in range(500):
            if self.capture().summary["ended"] == "yes":
                break
            time.sleep(0.02)
        self.assertEqual("yes", self.capture().summary["ended"])
        self.finish(process)

    def test_what_is_appended_to_a_capture_is_told(self):
        self.profile("train:3", options=OPTIONS)
        path = self.folder / "dlkprof.dlkcap"
        path.write_bytes(2 * path.read_bytes())
        done = self.dlkprof("report", path, "--reports=summary")
        self.assertEqual(0, done.code)
        self.assertIn("Bytes follow the end of the capture", " ".join(done.stdout.split()))

    def test_capture_cut_anywhere_can_be_read(self):
        self.profile("train:3", options=OPTIONS)
        path = self.folder / "dlkprof.dlkcap"
        content = path.read_bytes()
        cut = self.folder / "cut.dlkcap"
        for size in range(16, len(content), len(content) // 7):
            cut.write_bytes(content[:size])
            done = self.dlkprof("report", cut, "--format=json")
            self.assertLess(done.code, 2, done.stderr)
            if done.code == 1:
                self.assertEqual(1, len(done.said()), done.stderr)
