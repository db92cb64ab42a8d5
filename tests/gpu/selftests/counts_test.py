"""What part `counts` makes of ncu's source page."""

import unittest

import counted_page
from harness import CheckFailed

PAGE = '\n'.join((
    'checksum 1', '"Kernel Name","mm",',
    '"Address","Source","Instructions Executed","Avg. Threads Executed","L2 Theoretical Sectors Global Excessive"',
    '"0x7f00","LDC R1","64","32","0"', '"0x7f10","LDG R2","1,024","31","48"', '"0x7f20","BRA 0","0","0","0"',
))  # fmt: skip


def row(offset, executed, threads, excessive):
    return {"SASS Offset": str(offset), "Instructions Executed": executed, "Avg. Threads Executed": threads,
            "L2 Theoretical Sectors Global Excessive": excessive}  # fmt: skip


class CountedPageTest(unittest.TestCase):
    def test_equal_counts(self):
        self.assertIn("2 instructions", counted_page.compare([row(0, "64", "32", "0"), row(16, "1024", "31.4", "48")], PAGE))

    def test_a_count_that_differs(self):
        with self.assertRaisesRegex(CheckFailed, "0x10 Instructions Executed: 1023, ncu 1,024"):
            counted_page.compare([row(0, "64", "32", "0"), row(16, "1023", "31", "48")], PAGE)

    def test_an_instruction_that_one_alone_has(self):
        with self.assertRaisesRegex(CheckFailed, "0x10"):
            counted_page.compare([row(0, "64", "32", "0")], PAGE)

    def test_a_page_without_a_table(self):
        with self.assertRaisesRegex(CheckFailed, "no table"):
            counted_page.compare([], "==ERROR== no kernel")
