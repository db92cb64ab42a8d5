"""PC sampling: the program runs as it would, and what its warps wait for is known by instruction."""

import collections
import json
import os

from harness import LAUNCHES_OF_AN_ITERATION, PROGRAM, ROTATE, EndToEndTest

OF_ONE = len(LAUNCHES_OF_AN_ITERATION)
SAMPLES_OF_A_RUN = 10  # tests/fakes/cupti/pc_sampling.cpp
SAMPLED = ("--replay-mode=none", "--pc-sampling")
DATABASE = "dlkprof_dldb.sqlite"
CALLS = (
    "cuptiPCSamplingEnable", "cuptiPCSamplingGetNumStallReasons", "cuptiPCSamplingGetStallReasons",
    "cuptiPCSamplingSetConfigurationAttribute", "cuptiPCSamplingGetData", "cuptiPCSamplingDisable",
)  # fmt: skip


class SampledTest(EndToEndTest):
    def sample(self, *steps, options=SAMPLED, env=None):
        return self.profile_unharmed(*steps, options=options, env=env, metrics=())

    def samples(self, path):
        """Of each kernel, by the report `source`."""
        samples = collections.Counter()
        for row in self.report_json(path, "--reports=source"):
            samples[row["Kernel Name"]] += row["PC Samples"]
        return samples

    def assert_sampled(self, launches, path=None):
        path = path or self.capture().path
        self.assertEqual(launches * SAMPLES_OF_A_RUN, sum(self.samples(path).values()))

    def assert_all_ended(self):
        trace = self.journal_lines("trace")
        self.assertEqual(trace.count("pc sampling begins"), trace.count("pc sampling ends"), trace)


class PcSamplingTest(SampledTest):
    def test_stall_reasons_of_every_kernel(self):
        self.sample("train:3")
        self.assert_all_ended()
        path = self.capture().path
        self.assertEqual(3 * SAMPLES_OF_A_RUN * collections.Counter(LAUNCHES_OF_AN_ITERATION)["Kernel2"],
                         self.samples(path)["Kernel2"])  # fmt: skip
        self.assert_sampled(3 * OF_ONE)
        rows = self.report_json(path, "--reports=stall")
        self.assertEqual(3 * len(set(LAUNCHES_OF_AN_ITERATION)), len(rows))
        reasons = [(row["Stall Reason"], row["Share (%)"], row["Cycles Per Issue"]) for row in rows[:3]]
        self.assertEqual([("long_scoreboard", 60.0, 3.0), ("selected", 20.0, 1.0), ("no_instruction", 20.0, 1.0)], reasons)
        for row in rows:
            self.assertEqual(("PC sampling", 2**17, None, None),
                             (row["Collected By"], row["Sampling Period (cycles)"], row["Op ID"], row["Samples Measured"]))  # fmt: skip
            self.assertGreater(row["Total GPU Time (ns)"], 0)
        self.assertIn("global", rows[0]["Meaning"])
        self.assertIn("long_scoreboard 60 %, no_instruction 20 %", self.summary_text(path))

    def test_source_lines(self):
        self.sample("train:2")
        rows = self.report_json(self.capture().path, "--reports=source")
        places = {(row["SASS Offset"], row["Source File"], row["Source Line"], row["Top Stall Reason"]) for row in rows}
        self.assertEqual(
            {(0x10, "/src/kernels.cu", 11, "long_scoreboard"), (0x40, "/src/kernels.cu", 14, "no_instruction")}, places
        )
        self.assertEqual({70.0, 30.0}, {row["Share Of Kernel (%)"] for row in rows})

    def test_source_lines_once_cupti_has_freed_what_it_keeps_of_them(self):
        # Lines are looked up while the program runs, once a second, and at its end those of another kernel.
        self.sample("train:2", "sleep:1700", "nccl:1")
        self.assertTrue(all(row["Source Line"] for row in self.report_json(self.capture().path, "--reports=source")))

    def disassembler(self, *lines):
        """A folder with an nvdisasm that is a script."""
        folder = self.folder / "tools"
        folder.mkdir(exist_ok=True)
        path = folder / "nvdisasm"
        path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
        path.chmod(0o700)
        return {"PATH": f"{folder}:{os.environ['PATH']}"}

    def test_machine_code_is_kept_and_shown(self):
        self.sample("train:2")
        env = self.disassembler(
            'case "$*" in *"-c -g -fun"*) ;; *) exit 1;; esac',
            "echo '	.section	.text._Z6rotatePfPKfi,\"ax\",@progbits'",
            *(f"echo '        /*{16 * i:04x}*/   FADD R{i}, R{i}, R1 ;'" for i in range(2)),
            "echo '.L_x_0:'", "echo '        /*0020*/   LDG.E R4, [R2] ;'",
            "echo '        /*0040*/   @P0 BRA `(.L_x_0) ;'", "echo '        /*0050*/   EXIT ;'",
        )  # fmt: skip
        reports = []
        for path in DATABASE, self.capture().path:
            done = self.dlkprof("report", self.folder / path, "--reports=source", "--format=json", env=env)
            self.assertEqual((0, []), (done.code, done.said()))
            reports.append(json.loads(done.stdout)["rows"])
        self.assertEqual(*reports)
        found = {(row["SASS Offset"], row["SASS"], row["Loop"], row["Loop Lines"], row["Loop Share Of Kernel (%)"])
                 for row in reports[0] if row["Kernel Name"] == ROTATE}  # fmt: skip
        self.assertEqual(
            {(0x10, "FADD R1, R1, R1", None, None, None), (0x40, "@P0 BRA `(.L_x_0)", "0x20-0x40", "14", 30.0)}, found
        )
        self.assertEqual({None}, {row["SASS"] for row in reports[0] if row["Kernel Name"] != ROTATE})

    def test_machine_code_is_read_for_the_report_alone(self):
        self.sample("train:2")
        env = self.disassembler("exit 3")
        said = {
            name: self.dlkprof("report", self.capture().path, f"--reports={name}", env=env).said() for name in ("stall", "source")
        }
        self.assertEqual([], said["stall"])
        self.assertEqual(1, len(said["source"]))
        self.assertIn("exit code 3", said["source"][0])

    def test_the_database_says_the_same(self):
        self.sample("train:2")
        for report in "stall", "source":
            found, wanted = (
                self.report_json(self.folder / path, f"--reports={report}") for path in (DATABASE, self.capture().path)
            )
            self.assertEqual(wanted, found)
            self.assertTrue(found)

    def test_the_summary_says_how_much(self):
        self.sample("train:2", options=["--replay-mode=none", "--pc-sampling=20"])
        summary = " ".join(self.summary_text(self.capture().path).split())
        self.assertIn(f"PC sampling {2 * OF_ONE * SAMPLES_OF_A_RUN} samples, a multiprocessor once in 1,048,576 cycles", summary)

    def test_contexts_come_and_go(self):
        self.sample("contexts:3:2", "train:1")
        self.assert_all_ended()
        self.assert_sampled(7 * OF_ONE)

    def test_kernels_of_graphs_are_sampled(self):
        self.sample("capture:3")
        self.assert_sampled(3 * OF_ONE)

    def test_modules_that_are_loaded_again(self):
        self.sample("reload:3")
        self.assert_sampled(3 * OF_ONE)

    def test_modules_that_are_loaded_when_their_kernels_are_first_launched(self):
        for steps in ("train:2",), ("threads:2:1",), ("contexts:2:1",):
            with self.subTest(steps):
                self.sample("entry:library", *steps, options=[*SAMPLED, "--force"])
                self.assert_sampled(2 * OF_ONE)
                self.assertEqual(
                    {11, 14}, {row["Source Line"] for row in self.report_json(self.capture().path, "--reports=source")}
                )

    def test_a_program_that_launches_nothing(self):
        self.sample("init", "print:nothing")
        self.assert_all_ended()
        self.assertEqual([], self.captures())

    def test_a_program_that_is_killed_keeps_what_was_sampled(self):
        for step in "kill", "_exit:3", "segv":
            with self.subTest(step):
                self.sample("train:2", "sleep:1800", "train:1", step, options=[*SAMPLED, "--force"])
                self.assert_sampled(2 * OF_ONE)
                self.assertEqual(
                    {11, 14}, {row["Source Line"] for row in self.report_json(self.capture().path, "--reports=source")}
                )

    def test_fork(self):
        self.sample("train:1", "fork:print:child", "train:1")
        self.assert_sampled(2 * OF_ONE)

    def test_child_programs(self):
        self.sample("train:1", "spawn:train:2")
        for launches, capture in zip((OF_ONE, 2 * OF_ONE), self.captures()):
            self.assert_sampled(launches, capture.path)

    def test_only_the_devices_asked_for(self):
        self.sample("device:0", "train:1", "device:1", "train:2", options=[*SAMPLED, "--devices=1"])
        self.assertEqual(2 * OF_ONE * SAMPLES_OF_A_RUN, sum(self.samples(self.capture().path).values()))

    def test_the_devices_left_out_cost_no_more_than_others(self):
        """Nothing is asked of CUPTI for a launch."""
        done = self.sample("device:0", "train:1", "device:1", "train:2", options=[*SAMPLED, "--devices=1"],
                           env={"FAKE_CUPTI_FAIL": "cuptiGetStreamIdEx=CUPTI_ERROR_UNKNOWN"})  # fmt: skip
        self.assertEqual([], done.said())
        self.assertEqual((3 * OF_ONE, 2 * OF_ONE), tuple(self.capture().summary[name] for name in ("launches", "matched")))


class PcSamplingFailuresTest(SampledTest):
    def test_whatever_fails_the_program_runs_on(self):
        for call in CALLS:
            with self.subTest(call):
                done = self.sample(
                    "train:2", options=[*SAMPLED, "--force"], env={"FAKE_CUPTI_FAIL": f"{call}=CUPTI_ERROR_UNKNOWN"}
                )
                said = [line for line in done.said() if "PC sampling" in line]
                self.assertEqual(1, len(said), done.stderr)
                self.assertIn(call, said[0])
                self.assertEqual(2 * OF_ONE, self.capture().summary["launches"])

    def test_a_context_that_cannot_be_sampled_leaves_the_others(self):
        done = self.sample("contexts:3:1", env={"FAKE_CUPTI_FAIL": "cuptiPCSamplingEnable=CUPTI_ERROR_INVALID_PARAMETER@2"})
        self.assertIn("cuptiPCSamplingEnable", " ".join(done.said()))
        self.assertEqual(2 * OF_ONE * SAMPLES_OF_A_RUN, sum(self.samples(self.capture().path).values()))

    def test_source_lines_that_cannot_be_found(self):
        self.sample("train:2", env={"FAKE_CUPTI_FAIL": "cuptiGetSassToSourceCorrelation=CUPTI_ERROR_INVALID_MODULE"})
        self.assert_sampled(2 * OF_ONE)
        self.assertEqual({None}, {row["Source Line"] for row in self.report_json(self.capture().path, "--reports=source")})

    def test_modules_that_cupti_does_not_know(self):
        self.sample("train:2", env={"FAKE_CUPTI_FAIL": "cuptiGetCubinCrc=CUPTI_ERROR_INVALID_MODULE"})
        self.assert_sampled(2 * OF_ONE)
        self.assertEqual({None}, {row["Source Line"] for row in self.report_json(self.capture().path, "--reports=source")})

    def test_the_period_grows_where_the_buffer_overflows(self):
        done = self.sample("train:1", "sleep:1300", "train:2",
                           env={"FAKE_CUPTI_FAIL": "cuptiPCSamplingGetData=CUPTI_ERROR_OUT_OF_MEMORY@1"})  # fmt: skip
        self.assertEqual(["pc period 17", "pc period 18"], [line for line in self.journal_lines("trace") if "period" in line])
        self.assert_all_ended()
        self.assertNotIn("dlkprof: PC sampling", done.stderr)
        summary = " ".join(self.summary_text(self.capture().path).split())
        self.assertIn("once in 131,072 to 262,144 cycles", summary)
        self.assertIn("PC samples were lost: the hardware's buffer overflowed 1 time.", summary)
        self.assertIn("PC samples were lost: the hardware's buffer overflowed; the period is 2^18 cycles from then on", summary)
        self.assertEqual({"131072 to 262144"},
                         {row["Sampling Period (cycles)"] for row in self.report_json(self.capture().path, "--reports=stall")})  # fmt: skip

    def test_a_buffer_that_overflowed_at_the_end_is_told(self):
        self.sample("train:1", env={"FAKE_CUPTI_FAIL": "cuptiPCSamplingGetData=CUPTI_ERROR_OUT_OF_MEMORY@1"})
        summary = " ".join(self.summary_text(self.capture().path).split())
        self.assertIn("PC samples were lost", summary)
        self.assertIn("--pc-sampling=18", summary)


class PcSamplingUsageTest(SampledTest):
    def refused(self, *options):
        done = self.dlkprof(*options, PROGRAM, "print:ran")
        self.assertEqual((2, ""), (done.code, done.stdout))
        return done.stderr

    def test_not_beside_counters(self):
        for options in (), ("--replay-mode=kernel",), ("--replay-mode=iteration",):
            self.assertIn("--replay-mode none", self.refused("--pc-sampling", *options))

    def test_periods(self):
        for period in "4", "32", "x", "1e3", "-1":
            self.assertIn("from 5 to 31", self.refused("--replay-mode=none", f"--pc-sampling={period}"))

    def test_the_stall_section_alone_is_sampled(self):
        self.sample("train:1", options=["--section=stall"])
        self.assert_sampled(OF_ONE)
        self.assertEqual(0, self.capture().summary["measured"])

    def test_the_stall_section_without_replays_is_sampled(self):
        self.sample("train:1", options=["--section=stall", "--section=occupancy", "--replay-mode=none"])
        self.assert_sampled(OF_ONE)

    def test_the_stall_section_of_picked_kernels_is_counted(self):
        self.sample("train:1", options=["--section=stall", "-k", "regex:no_such"])
        self.assertEqual([], [line for line in self.journal_lines("trace") if "pc " in line])

    def test_what_was_not_sampled_is_named(self):
        self.sample("train:1", options=["--replay-mode=none"])
        done = self.report(self.capture().path, "--reports=source")
        self.assertIn("--pc-sampling", done.stderr)


class PcSamplingThreadsTest(SampledTest):
    def test_threads(self):
        self.sample("threads:4:100")
        self.assert_sampled(4 * 100 * OF_ONE)
