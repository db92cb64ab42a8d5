"""Verdicts beside ncu's rules: reading both, and what must not pass."""

import csv
import io
import unittest

import diagnosis_report
import part_diagnosis
import traits
from figures_test import launch
from harness import FAIL, PASS, SKIP, CheckFailed
from launch_tables import dimensions
from ncu_rules import bottlenecks, first_words, parse_rules
from stand_ins import GOOD_DLKPROF, InFolder
from verdicts import Verdicts, read_table

RULES = '''==PROF== Disconnected from process 41
"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
"0","41","slow","Memory","Mem Busy","50","","","","",""
"0","41","slow","Memory","","","Conflicts","OPT","A 32.0-way bank conflict was found. See @url:the guide:https://example.org/a@.","global","87.5"
"0","41","slow","Memory","","","Conflicts","OPT","A 32.0-way bank conflict was found. See @url:the guide:https://example.org/a@.","global","87.5"
"0","41","slow","Launch","","","Tail","WRN","A tail effect, up to 50%.","",""
"0","41","slow","Launch","","","Fine","INF","Nothing is wrong.","",""
"1","41","fast","Launch","","","Tail","WRN","Another one.","",""
'''


class RulesTest(unittest.TestCase):
    def test_those_that_name_a_bottleneck_of_the_kernel(self):
        found = bottlenecks(parse_rules(RULES), "slow")
        self.assertEqual(
            [(one.rule, one.kind, one.speedup) for one in found], [("Conflicts", "OPT", 87.5), ("Tail", "WRN", None)]
        )
        self.assertEqual(found[0].in_words(), "Conflicts (OPT, est. 88 %): A 32.0-way bank conflict was found")
        self.assertEqual(bottlenecks(parse_rules(RULES), "other"), [])
        self.assertEqual(parse_rules("==WARNING== No kernels were profiled.\n"), [])

    def test_words(self):
        self.assertEqual(
            first_words("As @url:the guide:https://example.org/x@ says: 3.5 of 10. And more."),
            "As the guide says: 3.5 of 10. And more",
        )
        self.assertEqual(len(first_words("word " * 100)), 140)

    def test_row(self):
        trait = traits.SUBJECTS[0].traits[0]
        rules = bottlenecks(parse_rules(RULES), "slow")
        row = diagnosis_report.diagnosis_row("copy", trait, False, "latency-bound", rules * 3)
        self.assertEqual(row[4], "**no**")
        self.assertIn("; 2 more", row[5])
        self.assertEqual(diagnosis_report.rules_in_words(None), "not run")
        self.assertEqual(diagnosis_report.rules_in_words([]), "none")


class TraitsTest(unittest.TestCase):
    def verdicts(self, **reports):
        kernel = {"Kernel Name": "k"}
        made = {name: [kernel | row for row in rows] for name, rows in reports.items()}
        return Verdicts({name: [] for name in (*part_diagnosis.REPORTS, "kernel")} | made)

    def test_bandwidth(self):
        bottleneck = [{"Verdict": "memory-bound", "Reason": "memory at 90 %"}]
        memory = {"DRAM Of Peak (%)": "90", "L2 Of Peak (%)": "40", "L1 Of Peak (%)": "30"}
        self.assertTrue(traits.bandwidth_bound(self.verdicts(bottleneck=bottleneck, memory=[memory]), "k")[0])
        for other in (memory | {"DRAM Of Peak (%)": "40"}, memory | {"DRAM Of Peak (%)": ""}):
            self.assertFalse(traits.bandwidth_bound(self.verdicts(bottleneck=bottleneck, memory=[other]), "k")[0])
        latency = [{"Verdict": "latency-bound", "Reason": ""}]
        self.assertFalse(traits.bandwidth_bound(self.verdicts(bottleneck=latency, memory=[memory]), "k")[0])
        self.assertFalse(traits.bandwidth_bound(self.verdicts(), "k")[0])

    def test_tensor_cores(self):
        kernel = {"Uses TC": "true", "TC Source": "counter", "Tensor Pipe (%)": "20"}
        roofline = [{"Precision": "FP32"}, {"Precision": "Tensor FP16"}]
        self.assertTrue(traits.on_tensor_cores(self.verdicts(kernel=[kernel], roofline=roofline), "k")[0])
        for other in (kernel | {"TC Source": "name"}, kernel | {"Tensor Pipe (%)": "1"}, kernel | {"Uses TC": "false"}):
            self.assertFalse(traits.on_tensor_cores(self.verdicts(kernel=[other], roofline=roofline), "k")[0])
        self.assertFalse(traits.on_tensor_cores(self.verdicts(kernel=[kernel], roofline=roofline[:1]), "k")[0])

    def test_tiles(self):
        bottleneck = [{"Verdict": "memory-bound", "Reason": ""}]
        memory = [{"DRAM Of Peak (%)": "5", "L2 Of Peak (%)": "10", "L1 Of Peak (%)": "90"}]
        for uses, source, right in (("false", "counter", True), ("true", "counter", False), ("false", "name", False)):
            verdicts = self.verdicts(bottleneck=bottleneck, memory=memory, kernel=[{"Uses TC": uses, "TC Source": source}])
            self.assertEqual(traits.tiles_without_tensor_cores(verdicts, "k")[0], right)

    def test_rules_of_the_expert_system(self):
        found = self.verdicts(expert_systems=[{"Rule": "divergence", "Where": "k", "Problem": "only 8 are active"}])
        measured = self.verdicts(bottleneck=[{"Verdict": "compute-bound", "Reason": ""}])
        self.assertEqual(traits.finds("divergence")(found, "k"), (True, "divergence: only 8 are active"))
        self.assertFalse(traits.finds("divergence")(found, "another")[0])
        self.assertFalse(traits.finds_not("divergence")(found, "k")[0])
        self.assertTrue(traits.finds_not("divergence")(measured, "k")[0])
        self.assertFalse(traits.finds_not("divergence")(self.verdicts(), "k")[0], "nothing was measured")

    def test_registers(self):
        row = {"Limiter": "registers", "Theoretical Occupancy (%)": "12.5", "Registers (register/thread)": "180", "Next Step": ""}
        self.assertTrue(traits.limited_by_registers(self.verdicts(occupancy=[row]), "k")[0])
        self.assertFalse(traits.limited_by_registers(self.verdicts(occupancy=[row | {"Limiter": "registers, warps"}]), "k")[0])
        self.assertFalse(traits.not_limited_by_registers(self.verdicts(occupancy=[row]), "k")[0])
        self.assertTrue(
            traits.not_limited_by_registers(self.verdicts(occupancy=[row | {"Theoretical Occupancy (%)": "100"}]), "k")[0]
        )


NCU_LIMITS = {
    "sm__maximum_warps_per_active_cycle_pct": "25",
    "launch__occupancy_limit_registers": "2",
    "launch__occupancy_limit_shared_mem": "16",
    "launch__occupancy_limit_warps": "8",
    "launch__occupancy_limit_blocks": "32",
}
OUR_LIMITS = {
    "Theoretical Occupancy (%)": "25",
    "Block Limit Registers": "2",
    "Block Limit Shared Mem": "16",
    "Block Limit Warps": "8",
    "Block Limit SM": "32",
    "Limiter": "registers",
}


class OccupancyTest(InFolder):
    def compare(self, **changed):
        ours = {("k", (1, 1, 1), (32, 1, 1)): OUR_LIMITS | {key.replace("_", " "): value for key, value in changed.items()}}
        return part_diagnosis.compare_occupancy(ours, [launch("k", **NCU_LIMITS)])

    def test_equal(self):
        self.assertEqual(self.compare(), (1, "equal; limited by registers"))

    def test_the_shared_memory_that_the_driver_chose(self):
        for theirs, limiter, right in (
            ("2", "registers", True),
            ("1", "registers", False),
            ("1", "shared memory", True),
            ("2", "registers, shared memory", True),
            ("16", "registers, shared memory", False),
        ):
            ours = {("k", (1, 1, 1), (32, 1, 1)): OUR_LIMITS | {"Limiter": limiter}}
            reference = [launch("k", **NCU_LIMITS | {"launch__occupancy_limit_shared_mem": theirs})]
            if right:
                part_diagnosis.compare_occupancy(ours, reference)
            else:
                with self.assertRaisesRegex(CheckFailed, "limiter"):
                    part_diagnosis.compare_occupancy(ours, reference)

    def test_what_differs_or_is_missing(self):
        for changed, words in (
            ({"Limiter": "warps"}, "limiter warps, ncu's least limit registers"),
            ({"Block_Limit_Warps": "7"}, "Block Limit Warps 7, ncu 8"),
            ({"Block_Limit_Warps": ""}, "Block Limit Warps empty, ncu 8"),
        ):
            with self.assertRaisesRegex(CheckFailed, words):
                self.compare(**changed)
        with self.assertRaisesRegex(CheckFailed, "k: not in the report"):
            part_diagnosis.compare_occupancy({}, [launch("k", **NCU_LIMITS)])
        with self.assertRaisesRegex(CheckFailed, "ncu measured nothing"):
            part_diagnosis.compare_occupancy({}, [])

    def test_case_and_row(self):
        bench = self.bench(GOOD_DLKPROF)
        verdicts = Verdicts({"occupancy": []})
        row = part_diagnosis.same_occupancy(bench, "copy", verdicts, None)
        self.assertEqual(row, ("copy", 0, "ncu was not run"))
        with self.assertRaises(StopIteration):
            next(one for one in self.board.rows if one.status != SKIP)
        count_outcome = part_diagnosis.same_occupancy(bench, "copy", verdicts, [launch("k", **NCU_LIMITS)])
        self.assertIn("**differs**: k: not in the report", count_outcome[2])
        self.assertEqual(self.board.rows[-1].status, FAIL)


class ProductTest(unittest.TestCase):
    def words(self, performance, precision="Tensor BF16"):
        # 2 * 1000^3 operations in 10 us: 200 TFLOP/s.
        return part_diagnosis.product_words(
            Verdicts(
                {
                    "roofline": [
                        {
                            "Kernel Name": "nvjet",
                            "Precision": precision,
                            "Samples Measured": "1",
                            "Performance (op/s)": str(performance),
                        }
                    ],
                    "kernel": [{"Kernel Name": "nvjet", "Calls Timed": "5", "Avg. GPU Time (ns)": "10000"}],
                }
            ),
            1000,
        )

    def test_within_the_limit(self):
        self.assertIn("is 200.0 TFLOP/s: +4.50 % (limit 5 %)", self.words(209e12))

    def test_beyond_it_or_without_a_figure(self):
        with self.assertRaisesRegex(CheckFailed, "-6.00 %"):
            self.words(188e12)
        with self.assertRaisesRegex(CheckFailed, "0 kernels with bf16"):
            self.words(200e12, "Tensor FP16")


# Writes each report that it is asked for: a dlkprof that diagnoses one kernel.
DIAGNOSING = """
import pathlib, subprocess, sys
words = sys.argv
folder, name = (words[words.index(option) + 1] for option in ("--output_path", "--base_name"))
tables = {tables!r}
for report in next(word for word in words if word.startswith("--reports=")).split("=")[1].split(","):
    pathlib.Path(folder, name + "_" + report + ".csv").write_text(tables.get(report, "Kernel Name,Where,Rule\\n"))
sys.exit(subprocess.call(words[words.index("--") + 1:]))
"""


class PartTest(InFolder):
    def test_the_whole_part_without_ncu(self):
        tables = {
            "occupancy": "Kernel Name,Grid Size,Block Size\n",
            "expert_systems": "Rule,Where,Problem\nbank_conflicts,transpose_conflict_kernel,many\n",
        }
        bench = self.bench(DIAGNOSING.format(tables=tables))
        bench.ncu.program = None
        bench.__dict__["_torch"] = (None, "there is none")
        for subject in (*(one.program for one in traits.SUBJECTS), *(program for program, _ in traits.OTHERS)):
            self.script(f"programs/{subject}", "")
        part_diagnosis.run(bench)
        statuses = self.statuses()
        self.assertEqual(statuses["bank_conflict: transpose_conflict_kernel is 32-way bank conflicts"][0], PASS)
        self.assertEqual(statuses["divergent: divergent_kernel is lanes of a warp on four paths"][0], FAIL)
        self.assertEqual(statuses["copy: occupancy and its limiter"], (SKIP, "ncu was not run"))
        self.assertEqual(statuses[f"bf16 product of {part_diagnosis.PRODUCT_SIZE}"], (SKIP, "there is none"))
        page = (self.folder / "diagnosis.md").read_text()
        self.assertIn(
            "| bank_conflict | `transpose_conflict_kernel` | 32-way bank conflicts | bank_conflicts: many | yes | not run |", page
        )
        self.assertIn("Not measured.", page)

    def test_tables_with_line_ends_of_csv(self):
        written = io.StringIO(newline="")
        csv.writer(written).writerows([("Kernel Name", "Grid Size"), ("a,b", "(1, 2, 3)")])
        row = read_table(written.getvalue())[0]
        self.assertEqual((row["Kernel Name"], dimensions(row["Grid Size"])), ("a,b", (1, 2, 3)))
