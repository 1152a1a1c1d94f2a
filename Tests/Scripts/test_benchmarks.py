"""Shows that ratios, targets and thresholds of benchmarks/ say what was measured."""

import json
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from measuring import page, thresholds  # noqa: E402
from measuring.results import Measurement, Results  # noqa: E402
from measuring.rows import ROWS, Against, Row, at_least, at_most, ratio_at_most  # noqa: E402
from measuring.thresholds import Threshold  # noqa: E402


def results(**rounds):
    """subject → its figure in rounds 1, 2, 3 …"""
    return Results([
        Measurement("dispatch", "case", subject, number, {"cost": value})
        for subject, values in rounds.items()
        for number, value in enumerate(values, 1)
    ])


def row(**more):
    return Row("dispatch", "worker", "case", "own", "cost", "s", digits=1, **more)


class Ratios(unittest.TestCase):
    against = Against("case", "rival", "rival")

    def test_a_ratio_is_of_one_round_and_not_of_medians(self):
        # The machine was twice as slow in round 2, for both.
        one = results(own=[1.0, 2.4, 1.1], rival=[2.0, 4.0, 2.0])
        self.assertEqual(one.ratios(row(against=self.against)), [0.5, 0.6, 0.55])

    def test_a_round_without_the_rival_has_no_ratio(self):
        self.assertEqual(results(own=[1.0, 3.0], rival=[2.0]).ratios(row(against=self.against)), [0.5])
        self.assertEqual(results(own=[1.0]).ratios(row(against=self.against)), [])

    def test_the_line_shows_median_spread_and_ratio(self):
        line = page.line(row(against=self.against), results(own=[1.0, 2.4, 1.1], rival=[2.0, 4.0, 2.0]))
        self.assertEqual(
            line, "| worker | 1.1 s | 1.0 – 2.4 | **0.55** × rival (0.50 – 0.60) |  | `make bench ONLY=dispatch` |")

    def test_nothing_measured_is_no_line(self):
        self.assertIsNone(page.line(row(), results(other=[1.0])))


class Targets(unittest.TestCase):
    def verdict(self, target, own, rival=()):
        return page.verdict(row(against=Ratios.against, target=target), results(own=own, rival=list(rival)))

    def test_the_median_decides(self):
        self.assertEqual(self.verdict(at_most(2), [1.0, 2.0, 9.0]), "≤ 2 **reached**")
        self.assertEqual(self.verdict(at_most(2), [1.0, 2.1, 9.0]), "≤ 2 not reached")

    def test_a_rate_has_to_be_high(self):
        self.assertEqual(self.verdict(at_least(100_000), [100_000]), "≥ 100,000 **reached**")
        self.assertEqual(self.verdict(at_least(100_000), [99_999]), "≥ 100,000 not reached")

    def test_a_ratio_is_judged_by_the_ratios(self):
        self.assertEqual(self.verdict(ratio_at_most(0.9), [9.0], [10.0]), "≤ 0.9 × **reached**")
        self.assertEqual(self.verdict(ratio_at_most(0.9), [0.5], [0.5]), "≤ 0.9 × not reached")

    def test_without_the_rival_nothing_is_claimed(self):
        self.assertEqual(self.verdict(ratio_at_most(0.9), [0.5]), "")

    def test_the_scale_counts_before_the_target(self):
        millions = Row("dispatch", "", "case", "own", "cost", "M/s", 1e-6, 1, target=at_least(3))
        self.assertEqual(page.verdict(millions, results(own=[3.1e6])), "≥ 3 **reached**")

    def test_every_rival_of_a_row_is_measured_by_the_same_figure_of_another_subject_or_case(self):
        for one in ROWS:
            if one.against:
                self.assertNotEqual((one.case, one.subject), (one.against.case, one.against.subject), one)
            if one.target and one.target.of == "ratio":
                self.assertIsNotNone(one.against, one)


class Page(unittest.TestCase):
    def test_only_what_stands_between_the_markers_is_replaced(self):
        begin, end = page.MARKERS
        self.assertEqual(page.with_results(f"a\n{begin}\nold\n{end}\nz", "new"), f"a\n{begin}\nnew\n{end}\nz")
        self.assertIsNone(page.with_results(f"{end} {begin}", "new"))

    def test_what_limits_now_is_read_from_the_page(self):
        text = "## What limits now\n\n| | |\n|---|---|\n| decode | the scan |\n| whole path | the lane |\n\n## More\n| x | y |\n"
        self.assertEqual(page.limits(text), {"decode": "the scan", "path": "the lane"})

    def test_the_page_has_its_markers_and_says_what_limits_each_benchmark(self):
        text = page.PAGE.read_text("utf-8")
        self.assertIsNotNone(page.with_results(text, ""))
        self.assertEqual({one.benchmark for one in ROWS} - set(page.limits(text)), set())


class Thresholds(unittest.TestCase):
    threshold = Threshold("pacing", "instructions", 1_000, 3)

    def test_the_tolerance_is_the_last_that_passes(self):
        self.assertEqual(thresholds.judge(self.threshold, 1_030), "reached")
        self.assertEqual(thresholds.judge(self.threshold, 1_031), "exceeded")

    def test_far_below_asks_to_be_renewed_and_passes(self):
        lines, holds = thresholds.report([self.threshold], {("pacing", "instructions"): 900})
        self.assertTrue(holds)
        self.assertIn("renew", lines[0])

    def test_none_is_none(self):
        none = Threshold("decode", "allocations", 0, 0)
        self.assertEqual(thresholds.judge(none, 0), "reached")
        self.assertEqual(thresholds.judge(none, 0.0001), "exceeded")

    def test_one_exceeded_fails_all_and_is_named(self):
        other = Threshold("decode", "allocations", 0, 0)
        lines, holds = thresholds.report([self.threshold, other], {("pacing", "instructions"): 1_000, ("decode", "allocations"): 1})
        self.assertFalse(holds)
        self.assertEqual(lines[1], "allocations an event, decode: found 1, allowed 0 EXCEEDED")

    def test_what_was_not_counted_is_neither_judged_nor_renewed(self):
        self.assertEqual(thresholds.report([self.threshold], {}), ([], True))
        self.assertEqual(thresholds.read(thresholds.written([self.threshold], {}, {})), [self.threshold])

    def test_renewing_keeps_tolerances_and_rounds(self):
        text = thresholds.written([self.threshold], {("pacing", "instructions"): 1234.567}, {"swift": "6"})
        self.assertEqual(thresholds.read(text), [Threshold("pacing", "instructions", 1235.0, 3)])
        self.assertEqual(json.loads(text)["measuredWith"], {"swift": "6"})

    def test_callgrind_says_how_many(self):
        self.assertEqual(thresholds.instructions_of("==7== Events    : Ir\n==7== Collected : 123456\n"), 123_456)

    def test_the_file_in_the_tree_holds_decode_and_pacing_to_no_allocation(self):
        kept = {(one.what, one.kind): one for one in thresholds.read(thresholds.FILE.read_text("utf-8"))}
        for what in ("decode", "pacing"):
            self.assertEqual(kept[what, "allocations"].most, 0)
            self.assertGreater(kept[what, "instructions"].allowed, 0)


if __name__ == "__main__":
    unittest.main()
