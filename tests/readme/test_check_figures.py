#!/usr/bin/env python3
"""Tests check_figures.py."""

import unittest

import check_figures


class Figures(unittest.TestCase):
    def test_four_significant_digits_are_a_figure(self):
        self.assertEqual(check_figures.figures("29,705 bytes, 3.5695, 0.99995 and 12345."),
                         {"29705", "3.5695", "0.99995", "12345"})

    def test_short_numbers_years_sizes_and_shapes_are_none(self):
        self.assertEqual(check_figures.figures("0.986, 12.2, 4,000, in 2026, 2026-11-25, 1536 x 3072, (1024,512,8)"),
                         set())

    def test_tables_code_and_links_do_not_count(self):
        text = "<!-- figures: peers -->\n1,234.5\n<!-- end -->\n```text\n12345\n```\n`54321` [a](b_98765.md)\n"
        self.assertEqual(check_figures.figures(text), set())

    def test_a_figure_of_two_pages_is_reported(self):
        texts = {"a.md": "29,705 bytes", "b.md": "| 29705 |", "c.md": "29,706"}
        self.assertEqual(list(check_figures.repeated(texts)),
                         ["29705 stands in a.md and in b.md: keep one, and replace the other by a link"])


if __name__ == "__main__":
    unittest.main()
