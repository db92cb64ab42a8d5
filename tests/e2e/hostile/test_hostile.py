"""Programs that do what a profiler in them must bear: stdout, exit code and files are as without it.

DLKPROF_SOAK=1 tries more of everything (./setup.sh soak).
"""

import hashlib
import os
import shutil
import time
import unittest

from harness import WAYS, EndToEndTest

SOAK = bool(os.environ.get("DLKPROF_SOAK"))
SANITIZED = bool(os.environ.get("DLKPROF_SANITIZE"))  # which slows every replay

# Of what takes longer, where not soaking.
FEW_WAYS = ("none", "timeline")


class HostileProgram(EndToEndTest):
    def environment(self, **more):
        """No journal of the fakes, which grows, runs into limits of the program's, and is opened by threads that are none."""
        return super().environment(**more) | {"FAKE_JOURNAL": ""}

    def files(self):
        return {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.iterdir())
            if path.is_file() and path.name.startswith(("of_the_program", "its_"))
        }

    def clear(self):
        for path in self.folder.glob("its_*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def wait_for(self, name):
        until = time.monotonic() + 20
        while name and not (self.folder / name).exists() and time.monotonic() < until:
            time.sleep(0.02)

    def check(self, *steps, complains=False, ways=tuple(WAYS), soak_ways=tuple(WAYS), leaves=None):
        """`leaves`: a file that is there when all is done, also what goes on in the background."""
        alone = self.unprofiled(*steps)
        self.wait_for(leaves)
        expected = (alone.code, alone.stdout, self.files())
        for name in soak_ways if SOAK else ways:
            with self.subTest(way=name):
                self.clear()
                done = self.profile(*steps, options=["--force", *WAYS[name]])
                self.wait_for(leaves)
                self.assertEqual(expected, (done.code, done.stdout, self.files()), done.stderr)
                if complains:
                    self.assertIn("closed the descriptor", done.stderr)
        return alone


class HostileProgramTest(HostileProgram):
    def test_all_descriptors_closed_and_used_again(self):
        alone = self.check("marked:2", "close_all:9", "marked:2", complains=True)
        self.assertIn("40 files as they were written", alone.stdout)

    def test_descriptors_of_others_closed_and_used_again(self):
        self.check("marked:2", "close_twice:100000", "marked:2", complains=True)

    def test_threads_that_are_cancelled_while_they_launch(self):
        alone = self.check("train:1", "cancel:60", "train:1")
        self.assertIn("60 cancelled", alone.stdout)

    def test_host_functions_that_wait_for_what_comes_after(self):
        """Launches that are to be measured wait for them for a while, and those later no more."""
        told = self.profile_unharmed("host_waits:20", options=["--replay-mode=iteration"])
        self.assertIn("not made alone any more", " ".join(told.stderr.split()))
        self.assertIn("host waits", told.stdout)

    def test_host_functions_that_wait_for_another_thread(self):
        """Who waits for the GPU lets it pass."""
        told = self.profile_unharmed("host_waits:30:thread", options=["--replay-mode=iteration", "-k", "regex:^(?!others)"])
        self.assertNotIn("not made alone any more", " ".join(told.stderr.split()))
        self.assertLess(0, self.capture().summary["measured"])

    def test_what_the_program_times_itself(self):
        """It would be held up, and what it chooses by its times be wrong. All else is measured."""
        told = self.profile_unharmed("timed:8", options=["--replay-mode=iteration"])
        self.assertIn(" 0 gave up", told.stdout)
        self.assertLess(0, self.capture().summary["measured"])

    def test_what_the_program_times_itself_among_launches_that_are_only_counted(self):
        options = ["--replay-mode=iteration", "--samples=all", "-k", "regex:^(?!Delay)"]
        told = self.profile_unharmed("train:100", "timed:8", options=options, metrics=["gpu__time_duration.sum"])
        self.assertIn(" 0 gave up", told.stdout)

    def test_a_host_function_without_an_end(self):
        """Launches that are to be measured wait for it for a while, those later no more, and the end does not."""
        self.check("train:1", "host_stuck", "train:9", "exit:7", ways=("iteration",))

    def test_a_stderr_that_cannot_be_written(self):
        for how in ("pipe", "file"):
            with self.subTest(how=how):
                self.check("train:1", f"break_stderr:{how}", "close_twice:5", "train:2", "exit:7")


class HostileEndingTest(HostileProgram):
    def test_a_capture_that_is_lost_before_the_end(self):
        """What plans for counters and evaluates them must not go on while NVPerf ends itself, at exit."""
        self.check("train:1", "limit:fsize:3000", "train:2", "exit:7", ways=("iteration", "auto", "sample"))


class HostileNamesTest(HostileProgram):
    def test_names_that_take_more_stack_than_a_thread_has(self):
        for kind in ("templates", "templates:64", "pointers:64", "nested:64"):
            alone = self.check(f"named:{kind}", ways=("kernel", "none"))
            self.assertEqual(0, alone.code, alone.stderr)

    def test_thousands_of_names(self):
        self.check(f"names:{20_000 if SOAK and not SANITIZED else 3000}", ways=FEW_WAYS)
        if SOAK:
            self.check("names:100000", soak_ways=("none",) if SANITIZED else FEW_WAYS)  # to measure them takes minutes


class HostileRangesTest(HostileProgram):
    def test_a_nest_without_an_end(self):
        self.check(f"nest:{100_000 if SOAK else 70_000}", ways=FEW_WAYS)

    def test_attributes_and_handles_that_are_none(self):
        self.check("train:1", f"wild_ranges:{1 << (22 if SOAK else 17)}", "train:1", ways=("timeline", "auto"))

    def test_ranges_from_a_signal_handler(self):
        alone = self.check(f"signals:{5000 if SOAK else 400}", "train:1", ways=FEW_WAYS)
        self.assertIn("handled", alone.stdout)

    def test_errno_stays_as_the_program_left_it(self):
        many = 600 if SANITIZED else 3000
        alone = self.check(f"errno:{many if SOAK else 300}")
        self.assertIn("0 changed", alone.stdout)


class HostileProcessesTest(HostileProgram):
    def test_many_threads(self):
        self.check(f"thread_storm:{500 if SOAK else 100}", ways=FEW_WAYS)
        if SOAK:  # replays save what all threads have allocated, each time
            self.check("thread_storm:8000", soak_ways=("none", "iteration", "sample"))

    def test_forks_beside_a_thread_that_launches(self):
        self.check(f"fork_storm:{300 if SOAK else 20}", ways=FEW_WAYS)

    def test_a_daemon(self):
        self.check("daemon", ways=FEW_WAYS, leaves="its_daemon")

    def test_limits(self):
        for limit in ("nofile:8", "fsize:20000", "nproc:0", "stack:100000"):
            self.check(f"limit:{limit}", "train:2", "exit:3", ways=(*FEW_WAYS, "iteration"))
            self.check("train:1", f"limit:{limit}", "train:2", ways=(*FEW_WAYS, "iteration"))

    @unittest.skipUnless(os.geteuid() == 0, "takes root")
    def test_another_root_and_another_user(self):
        os.chmod(self.folder, 0o755)
        for steps in (
            ("chroot", "train:2"),
            ("train:1", "chroot", "train:1"),
            ("setuid", "train:2"),
            ("train:1", "setuid", "train:1"),
        ):
            self.check(*steps, ways=FEW_WAYS)

    def test_without_folder_environment_or_mask(self):
        for steps in (
            ("leave_folder", "train:2"),
            ("clearenv", "train:2"),
            ("train:1", "clearenv", "spawn:train:1"),
            ("umask", "train:2"),
        ):
            self.check(*steps, ways=FEW_WAYS)
        for path in self.folder.glob("*.dlkcap"):
            self.assertEqual(0o600, path.stat().st_mode & 0o777)

    def test_ends_of_all_kinds(self):
        for end in ("quick_exit:9", "throw", "abort", "segv", "_exit:4"):
            self.check("train:2", end, ways=FEW_WAYS)
