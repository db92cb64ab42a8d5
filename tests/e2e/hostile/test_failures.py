"""Every call to CUPTI and the driver that dlkprof makes fails once: the program does not notice, one message says why,
and what was measured can be read. The functions come from the tables that dlkprof itself is made from.
"""

import os
import re
import unittest

from harness import ADD, FAKES, INJECTED, METRICS, PROGRAM, SGEMM, SOURCE, EndToEndTest

# What needs several passes, and little evaluating: there are hundreds of runs.
FEW = [
    METRICS[0],
    *(name for name in METRICS if name in {"smsp__inst_executed.sum", "lts__t_sector_hit_rate.pct", "dram__bytes_read.sum"}),
]
# Handles change and a context goes while the profiler is at work.
STEPS = ("train:3", "contexts:1:1", "reload:2", "exit:11")


def functions(header, macro):
    """The entries of an X macro: the name that the library exports."""
    text = (SOURCE / "src/cupti" / header).read_text(encoding="utf-8")
    body = re.search(rf"#define {macro}\(X\)(.*?)\n\n", text, re.DOTALL)[1]
    entries = [entry.split(",") for entry in re.findall(r"X\(([^)]*)\)", body)]
    return [(words[1] if len(words) > 1 else words[0]).strip() for words in entries]


CUPTI = functions("library.h", "DLKPROF_CUPTI_FUNCTIONS")
NVPERF = functions("nvperf.h", "DLKPROF_NVPERF_FUNCTIONS")
NVPERF_IMAGES = functions("nvperf.h", "DLKPROF_NVPERF_IMAGE_FUNCTIONS")
CHECKPOINT = ["cuptiCheckpointSave", "cuptiCheckpointRestore", "cuptiCheckpointFree"]
DRIVER = functions("driver.h", "DLKPROF_DRIVER_FUNCTIONS")
# Their failure takes nothing from the user: texts, and what is given back at the end.
HARMLESS = {"cuptiGetResultString", "cuptiProfilerHostDeinitialize", "cuptiRangeProfilerDisable", "cuptiCheckpointFree",
            "NVPW_CounterDataCombiner_Destroy"}  # fmt: skip
# A failure of these is an answer: this copy is too old, there is no such metric, the buffer ends.
ANSWERS = {"cuptiGetVersion", "cuptiProfilerHostConfigAddMetrics", "cuptiProfilerHostGetMetricProperties",
           "cuptiActivityGetNextRecord"}  # fmt: skip
# Without these there is nothing to write a capture about.
NEEDED_TO_START = {"cuptiGetVersion", "cuptiSubscribe", "cuptiEnableCallback", "cuptiGetCallbackName"}


class FailureTest(EndToEndTest):
    alone = None

    def check_failure(self, env, *options):
        """One run with these variables: the program is unharmed, nothing is said twice. Gives both."""
        if FailureTest.alone is None:
            FailureTest.alone = self.unprofiled(*STEPS)
        out = self.folder / "out"
        for old in (*out.glob("*"), self.journal):
            old.unlink(missing_ok=True)
        # Only the injected library shall meet the failure, not what dlkprof itself asks of the host side.
        variables = [f"{name}={value}" for name, value in env.items()]
        done = self.dlkprof("--verbosity=minimal", f"--metrics={','.join(FEW)}", f"--output_path={out}", *options,
                            "--", "env", *variables, PROGRAM, *STEPS)  # fmt: skip
        self.assertEqual((self.alone.code, self.alone.stdout), (done.code, done.stdout), done.stderr)
        self.assertEqual(len(set(done.said())), len(done.said()), done.stderr)
        captures = [self.read(path) for path in out.glob("*.dlkcap")]
        for capture in captures:
            for row in capture.rows:
                # What is measured in windows may lack passes at the end.
                there = [metric for metric in FEW if row["Replay Mode"] == "kernel" or row[metric] is not None]
                self.assert_recorded_values(row, there)
        return done, captures

    def check_cupti(self, names, *options, calls=("1", "3")):
        for name in names:
            for call in calls:
                with self.subTest(function=name, call=call):
                    done, captures = self.check_failure({"FAKE_CUPTI_FAIL": f"{name}=CUPTI_ERROR_UNKNOWN@{call}"}, *options)
                    if f"failed {name}" in self.journal_lines("trace") and name not in HARMLESS | ANSWERS:
                        self.assertEqual(1, len([line for line in done.said() if name in line]), done.stderr)
                    if name not in NEEDED_TO_START:
                        self.assertEqual(1, len(captures), done.stderr)
                    if name != "cuptiRangeProfilerDisable":  # leaves the counters taken, for which the fake has its own word
                        self.assert_no_misuse()


class CuptiFailuresTest(FailureTest):
    def test_general(self):
        self.check_cupti([name for name in CUPTI if "Profiler" not in name], "-k", SGEMM)

    def test_host(self):
        self.check_cupti([name for name in CUPTI if "ProfilerHost" in name], "-k", SGEMM)


class CombiningFailuresTest(FailureTest):
    def test_passes_that_cannot_be_put_together(self):
        self.check_cupti(NVPERF, "--replay-mode=iteration", "--samples=1")

    def test_images_that_cannot_be_laid_out(self):
        """CUPTI's own are used then: all is measured, and there is nothing to say."""
        options = ("--replay-mode=iteration", "--samples=1")
        _, captures = self.check_failure({}, *options)
        measured = len(captures[0].rows)
        self.assertGreater(measured, 0)
        for name in NVPERF_IMAGES:
            with self.subTest(function=name):
                done, captures = self.check_failure({"FAKE_CUPTI_FAIL": f"{name}=CUPTI_ERROR_UNKNOWN@1+"}, *options)
                self.assertIn(f"failed {name}", self.journal_lines("trace"))
                self.assertEqual([], [line for line in done.said() if name in line])
                self.assertEqual(measured, len(captures[0].rows))
                self.assert_no_misuse()


class ReplayFailuresTest(FailureTest):
    def test_caches_as_they_are(self):
        self.check_cupti(
            ["cuptiProfilerInitialize", *(name for name in CUPTI if "RangeProfiler" in name)],
            "--replay-mode=kernel",
            "--samples=all",
        )


class FlushedReplayFailuresTest(FailureTest):
    def test_caches_flushed(self):
        names = [name for name in CUPTI if "RangeProfiler" in name] + CHECKPOINT
        self.check_cupti(names, "--replay-mode=kernel", "--samples=2", "--cache-control=all")

    def test_memory_that_cannot_be_put_back(self):
        # Nothing can save the results then. The user is told in so many words.
        env = {"FAKE_CUPTI_FAIL": "cuptiCheckpointRestore=CUPTI_ERROR_UNKNOWN@2+"}
        done = self.profile("train:2", "exit:5", options=["--cache-control=all", "-k", ADD], env=env)
        self.assertEqual(5, done.code)
        self.assertIn("RESULTS ARE WRONG", done.stderr)


class DriverFailuresTest(FailureTest):
    def test_driver(self):
        for name in DRIVER:
            for call in ("1", "4"):
                with self.subTest(function=name, call=call):
                    done, _ = self.check_failure(
                        {"FAKE_CUDA_FAIL": f"{name}=999@{call}"}, "--replay-mode=kernel", "--samples=2", "--cache-control=all"
                    )
                    self.assertLessEqual(len([line for line in done.said() if "cu" in line]), 2, done.stderr)
                    self.assert_no_misuse()


class KnownCausesTest(FailureTest):
    def test_no_permission(self):
        for name in ("cuptiProfilerInitialize", "cuptiProfilerGetCounterAvailability", "cuptiRangeProfilerEnable"):
            with self.subTest(function=name):
                done, captures = self.check_failure({"FAKE_CUPTI_FAIL": f"{name}=CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"}, "-k", ADD)
                self.assertEqual(1, len(done.said()), done.stderr)
                self.assertIn("NVreg_RestrictProfilingToAdminUsers", done.stderr)
                self.assertIn("NVreg_RestrictProfilingToAdminUsers", self.summary_text(captures[0].path))

    def test_counters_are_busy(self):
        env = {"FAKE_CUPTI_FAIL": "cuptiRangeProfilerStart=CUPTI_ERROR_HARDWARE_BUSY"}
        done, _ = self.check_failure(env, "-k", ADD, "--replay-mode=kernel", "--samples=all")
        self.assertEqual(1, len(done.said()), done.stderr)
        self.assertIn("DCGM", done.stderr)

    def test_a_failure_that_passes(self):
        env = {"FAKE_CUPTI_FAIL": "cuptiRangeProfilerStart=CUPTI_ERROR_UNKNOWN@2"}
        _, captures = self.check_failure(env, "-k", ADD, "--replay-mode=kernel", "--samples=all")
        of_three = {0, 6, 12}
        measured = {row["ID"] for row in captures[0].rows}
        self.assertEqual({6}, of_three - measured)
        self.assertEqual(1, captures[0].summary["left_alone"])

    @unittest.skipIf(os.environ.get("DLKPROF_SANITIZE"), "Python has no sanitizer's runtime, which the library then needs")
    def test_no_driver(self):
        # NVTX loads the library too, also into programs that use no CUDA and on machines without a driver.
        script = f"import ctypes; library = ctypes.CDLL('{INJECTED}'); print(library.InitializeInjectionNvtx2(None))"
        done = self.dlkprof("python3", "-c", script, env={"LD_LIBRARY_PATH": ""})
        self.assertEqual((0, "1\n"), (done.code, done.stdout), done.stderr)
        self.assertIn("no NVIDIA driver library", done.stderr)
        self.assertEqual([], self.captures())

    def test_no_checkpoint_library(self):
        toolkit = self.folder / "toolkit/lib64"
        toolkit.mkdir(parents=True)
        (toolkit / "libcupti.so.13").symlink_to(FAKES / "toolkit/lib64/libcupti.so.13")
        (toolkit / "libcheckpoint.so").write_text("no library", encoding="utf-8")  # nor is that of the loader's path found
        env = {"CUDA_HOME": str(toolkit.parent), "LD_LIBRARY_PATH": f"{toolkit}:{FAKES}"}
        done, captures = self.check_failure(env, "--cache-control=all", "-k", ADD)
        self.assertIn("--cache-control none", done.stderr)
        self.assertEqual([], captures[0].rows)

    def test_no_cupti_that_can_be_opened(self):
        toolkit = self.folder / "toolkit/lib64"
        toolkit.mkdir(parents=True)
        for name in ("libcupti.so.13", "libcupti.so.12"):
            (toolkit / name).write_text("no library", encoding="utf-8")
        env = {"CUDA_HOME": str(toolkit.parent), "CUDA_INJECTION64_PATH": str(INJECTED), "DLKPROF_OPTIONS": "{}"}
        done = self.run_command(PROGRAM, "train:1", env=env)
        # Another CUPTI may be found on this machine; the program runs in any case.
        self.assertEqual((0, self.unprofiled("train:1").stdout), (done.code, done.stdout), done.stderr)
