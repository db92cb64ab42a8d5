"""The part `source` on made-up tables: samples that are apart, and SASS that differs, must not pass."""

import unittest

import part_source
from harness import CheckFailed
from source_page import Instruction, apart, instructions_of, opcode, parse_source_page, shares

PAGE = """==PROF== Connected
"Kernel Name","k"
"#","Address","Source","Warp Stall Sampling (All Samples)","stall_long_sb","stall_selected","stall_long_sb (Not Issued)"
"1","0x7f00","LDC R1, c[0x0][0x28]","1,000","10","990","1"
"2","0x7f10","@!P0 LDG.E R2, [R4] ;","3,000","2,900","100","2"
"Kernel Name","k"
"#","Address","Source","Warp Stall Sampling (All Samples)","stall_long_sb","stall_selected","stall_long_sb (Not Issued)"
"1","0x8f00","LDC R1, c[0x0][0x28]","0","","",""
"2","0x8f10","@!P0 LDG.E R2, [R4]","1,000","1,000","0","2"
"""


def ours(*samples, texts=("LDC R1, c[0x0][0x37c]", "@!P0 LDG.E.SYS R2, [R4]"), reason="long_scoreboard"):
    rows = [
        {
            "Kernel Name": "k",
            "SASS Offset": str(16 * i),
            "SASS": text,
            "PC Samples": str(count),
            "Top Stall Reason": reason,
            "Source File": "k.cu",
            "Source Line": str(7 + i),
        }
        for i, (count, text) in enumerate(zip(samples, texts))
    ]
    return instructions_of([*rows, {**rows[0], "Kernel Name": "other"}], "k")


class SourcePageTest(unittest.TestCase):
    def test_launches_of_the_page_add_up(self):
        found = parse_source_page(PAGE)
        self.assertEqual(
            [(0, "LDC R1, c[0x0][0x28]", 1000), (16, "@!P0 LDG.E R2, [R4]", 4000)],
            [(one.offset, one.text, one.samples) for one in found],
        )
        self.assertEqual({"long_sb": 3900}, dict(found[1].stalls))

    def test_a_page_without_the_table_fails(self):
        with self.assertRaisesRegex(CheckFailed, "no table"):
            parse_source_page("==WARNING== No kernels were profiled.\n")

    def test_without_addresses_offsets_follow_from_the_order(self):
        page = 'Source,Warp Stall Sampling (All Samples)\nMOV R1,5\nEXIT,6\n'
        self.assertEqual([0, 16], [one.offset for one in parse_source_page(page)])

    def test_opcodes(self):
        self.assertEqual(["LDG", "EXIT", ""], [opcode(text) for text in ("@!P0 LDG.E R2, [R4]", "EXIT", "@P0")])

    def test_how_far_shares_are_apart(self):
        one, other = (
            shares([Instruction(0, "", a), Instruction(16, "", b)], lambda it: it.offset) for a, b in ((50, 50), (60, 40))
        )
        self.assertAlmostEqual(10, apart(one, other)[0])


class SourceTest(unittest.TestCase):
    def setUp(self):
        self.theirs = parse_source_page(PAGE)

    def test_the_same(self):
        found = ours(2000, 8100)
        self.assertIn("100.0 % of their opcodes", part_source.same_sass(found, self.theirs))
        for place_of in (lambda one: one.offset, part_source.line_by_offset(found)):
            self.assertIn("0.2 points apart", part_source.near(found, self.theirs, place_of))
        self.assertIn("0x10 long_scoreboard (ncu long_sb)", part_source.same_reasons(found, self.theirs))

    def test_shares_that_are_apart_fail(self):
        with self.assertRaisesRegex(CheckFailed, "30.0 points apart"):
            part_source.near(ours(5000, 5000), self.theirs, lambda one: one.offset)

    def test_few_samples_fail(self):
        with self.assertRaisesRegex(CheckFailed, "dlkprof has 30 samples"):
            part_source.near(ours(6, 24), self.theirs, lambda one: one.offset)

    def test_other_sass_fails(self):
        with self.assertRaisesRegex(CheckFailed, "50.0 % of the opcodes"):
            part_source.same_sass(ours(1, 4, texts=("LDC R1, c[0x0][0x28]", "STG.E [R4], R2")), self.theirs)
        with self.assertRaisesRegex(CheckFailed, "1 of 2 instructions have no SASS"):
            part_source.same_sass(ours(1, 4, texts=("LDC R1, c[0x0][0x28]", "")), self.theirs)
        with self.assertRaisesRegex(CheckFailed, "was not sampled"):
            part_source.same_sass([], self.theirs)

    def test_other_reasons_fail(self):
        with self.assertRaisesRegex(CheckFailed, "barrier"):
            part_source.same_reasons(ours(2000, 8000, reason="barrier"), self.theirs)

    def test_without_lines_there_is_nothing_to_compare(self):
        with self.assertRaisesRegex(CheckFailed, "no instruction has a line"):
            part_source.line_by_offset([Instruction(0, "EXIT", 1)])
