"""What part `counts` makes of ncu's source page."""

import unittest

import counted_page
from harness import CheckFailed

PAGE = '\n'.join((
    'checksum 1', '"Kernel Name","mm",',
    '"Address","Source","Instructions Executed","Thread Instructions Executed","Avg. Threads Executed",'
    '"L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Excessive"',
    '"0x7f00","LDC R1","64","2,048","32","0","0"', '"0x7f10","LDG R2","1,024","32,256","31","1,000","48"',
    '"0x7f20","BRA 0","0","0","0","0","0"',
))  # fmt: skip


def row(offset, executed, threads, sectors, excessive):
    return {"SASS Offset": str(offset), "Instructions Executed": executed, "Avg. Threads Executed": threads,
            "L2 Theoretical Sectors Global": sectors, "L2 Theoretical Sectors Global Excessive": excessive}  # fmt: skip


FIRST = row(0, "64", "32", "0", "0")


class CountedPageTest(unittest.TestCase):
    def test_equal_counts_but_for_some_thousandths_of_the_sectors(self):
        self.assertIn("2 instructions", counted_page.compare([FIRST, row(16, "1024", "31.5", "995", "53")], PAGE))

    def test_a_count_that_differs(self):
        with self.assertRaisesRegex(CheckFailed, "0x10 Instructions Executed: 1023, ncu 1024"):
            counted_page.compare([FIRST, row(16, "1023", "31.5", "1000", "48")], PAGE)

    def test_an_average_is_compared_with_its_fraction(self):
        with self.assertRaisesRegex(CheckFailed, "0x10 Avg. Threads Executed: 31, ncu 31.5"):
            counted_page.compare([FIRST, row(16, "1024", "31", "1000", "48")], PAGE)

    def test_sectors_that_differ(self):
        with self.assertRaisesRegex(CheckFailed, "0x10 L2 Theoretical Sectors Global: 989, ncu 1000"):
            counted_page.compare([FIRST, row(16, "1024", "31.5", "989", "48")], PAGE)

    def test_an_instruction_that_one_alone_has(self):
        with self.assertRaisesRegex(CheckFailed, "0x10"):
            counted_page.compare([FIRST], PAGE)

    def test_a_page_without_a_table(self):
        with self.assertRaisesRegex(CheckFailed, "no table"):
            counted_page.compare([], "==ERROR== no kernel")
