"""Tables, joining, deviations: the arithmetic of the GPU tests."""

import unittest

from deviation import EXACT, POINTS, PRINTED, RELATIVE, Rule, compare, deviate, judge, summarize
from harness import CheckFailed, markdown_table, text_table
from launch_tables import Launch, as_number, cost_words, dimensions, join, parse_launches, plain_name
from made_up_tables import NCU_CSV, OUR_CSV


def launch(name, position=0, grid=(1, 1, 1), **columns):
    return Launch(position, name, grid, (32, 1, 1), {plain_name(key): value for key, value in columns.items()})


class ParseTest(unittest.TestCase):
    def test_ncu_table_amid_other_output(self):
        launches = parse_launches(NCU_CSV)
        self.assertEqual([one.mangled for one in launches], ["fill_kernel", "_Z3fooIiEvT_, int"])
        self.assertEqual((launches[0].grid, launches[0].block), ((64, 2, 1), (256, 1, 1)))
        self.assertEqual(launches[0].number("gpu__time_duration.sum"), 1234.5)
        self.assertIsNone(launches[1].number("launch__waves"))
        self.assertEqual([one.position for one in launches], [0, 1])

    def test_our_table(self):
        launches = parse_launches(OUR_CSV)
        self.assertEqual([one.key for one in launches], [one.key for one in parse_launches(NCU_CSV)])
        self.assertEqual(launches[0].number("cost_ns"), 6e7)
        self.assertIsNone(launches[1].number("gpu__time_duration.sum"))

    def test_a_later_column_of_the_same_plain_name_does_not_count(self):
        self.assertEqual(parse_launches(OUR_CSV)[0].grid, (64, 2, 1))

    def test_no_table(self):
        self.assertEqual(parse_launches("==WARNING== No kernels were profiled.\n"), [])
        self.assertEqual(parse_launches(""), [])

    def test_cut_row_is_passed_over(self):
        self.assertEqual(len(parse_launches(OUR_CSV + "6,41,0")), 2)

    def test_numbers(self):
        self.assertEqual(as_number("12,345"), 12345)
        for text in (None, "", "n/a", "nan", "inf"):
            self.assertIsNone(as_number(text))

    def test_plain_names(self):
        self.assertEqual(plain_name("Kernel Name"), "kernel_name")
        self.assertEqual(plain_name("cost_ns [ns]"), "cost_ns")
        self.assertEqual(plain_name("dram__bytes.sum (byte)"), "dram__bytes.sum")

    def test_dimensions_in_other_spellings(self):
        self.assertEqual(dimensions("64x2x1"), (64, 2, 1))
        self.assertEqual(dimensions("64"), (64, 1, 1))


class CostTest(unittest.TestCase):
    def test_words(self):
        launches = [launch("kernel", cost_ns="2000000", passes=passes) for passes in "1313"]
        self.assertEqual(
            "4 launches of 1 configurations, 3 passes: 0.01 s in all, 2.000 ms a launch; whole process 12.0 s, 10.0 s alone",
            cost_words(launches, 12, 10),
        )

    def test_every_launch_has_a_cost(self):
        for launches in ([], [launch("kernel", cost_ns="", passes="1")]):
            with self.assertRaisesRegex(CheckFailed, "without a cost"):
                cost_words(launches, 12, 10)


class JoinTest(unittest.TestCase):
    def test_pairs_in_order(self):
        ours = [launch("a"), launch("b"), launch("a")]
        joined = join([launch("a"), launch("b"), launch("a")], ours)
        self.assertEqual([pair[1] for pair in joined.pairs], ours)
        self.assertEqual((joined.only_reference, joined.only_other), ([], []))

    def test_what_one_tool_left_alone_does_not_shift_the_rest(self):
        reference = [launch("a"), launch("graph"), launch("graph"), launch("b"), launch("a")]
        joined = join(reference, [launch("a"), launch("b"), launch("a"), launch("c")])
        self.assertEqual([one.mangled for one, _ in joined.pairs], ["a", "b", "a"])
        self.assertEqual([one.mangled for one in joined.only_reference], ["graph", "graph"])
        self.assertEqual([one.mangled for one in joined.only_other], ["c"])

    def test_another_grid_is_another_launch(self):
        joined = join([launch("a", grid=(2, 1, 1))], [launch("a", grid=(4, 1, 1))])
        self.assertEqual(joined.pairs, [])


class DeviationTest(unittest.TestCase):
    def test_relative(self):
        rule = Rule("m", RELATIVE, 5, near_zero=2)
        self.assertEqual(deviate(rule, "50", "51"), (RELATIVE, 50, 51, 2))
        self.assertEqual(deviate(rule, "0.5", "1")[::3], (POINTS, 0.5))
        self.assertEqual(deviate(Rule("m", RELATIVE, 5), "0", "0")[::3], (POINTS, 0))

    def test_printed_digits_decide(self):
        rule = Rule("m", PRINTED)
        self.assertEqual(deviate(rule, "0.24", "0.2424")[3], 0)
        self.assertAlmostEqual(deviate(rule, "0.24", "0.2460")[3], 0.006)
        self.assertEqual(deviate(rule, "8", "9")[3], 1)

    def test_missing_figures(self):
        self.assertIsNone(deviate(Rule("m", EXACT), None, "1"))
        self.assertIsNone(deviate(Rule("m", EXACT), "1", "n/a"))

    def test_summary(self):
        summary = summarize([-3, 1, 2])
        self.assertEqual((summary.n, summary.median, summary.least, summary.greatest), (3, 2, -3, 2))
        self.assertIsNone(summarize([]))

    def verdict(self, rule, *figures):
        pairs = [(launch("k", i, m=str(ncu)), launch("k", i, m=str(ours))) for i, (ncu, ours) in enumerate(figures)]
        deviations, missing = compare([rule], "program", pairs)
        return judge(rule, deviations, missing.get("m", 0))

    def test_exact_metric_fails_by_one(self):
        self.assertTrue(self.verdict(Rule("m", EXACT), ("1,000", 1000), (5, 5)).passed)
        self.assertFalse(self.verdict(Rule("m", EXACT), (1000, 1000), (5, 6)).passed)

    def test_median_decides_over_single_deviations(self):
        rule = Rule("m", RELATIVE, 5)
        self.assertTrue(self.verdict(rule, (100, 101), (100, 99), (100, 150)).passed)
        self.assertFalse(self.verdict(rule, (100, 106), (100, 94), (100, 100)).passed)

    def test_a_missing_figure_fails(self):
        finding = self.verdict(Rule("m", EXACT), (1, 1), (1, ""))
        self.assertEqual((finding.passed, finding.missing), (False, 1))
        self.assertFalse(self.verdict(Rule("m", EXACT)).passed)

    def test_near_zero_is_kept_apart(self):
        finding = self.verdict(Rule("m", RELATIVE, 5, near_zero=2), (0.1, 0.3), (50, 50))
        self.assertEqual((finding.main.n, finding.near.n), (1, 1))
        self.assertAlmostEqual(finding.near.greatest, 0.2)


class TableTest(unittest.TestCase):
    def test_text(self):
        self.assertEqual(text_table(("a", "bb"), [("1", "x\ny"), ("222", "")]), "a    bb\n---  ---\n1    x y\n222")

    def test_markdown(self):
        self.assertEqual(markdown_table(("a",), [("x|y",)]), "| a |\n| --- |\n| x\\|y |")
