"""Tests bench/ladon_bench/figures.py: the tables of ./dev bench peers, with float32 and int8 weights."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from ladon_bench import figures  # noqa: E402


def contestant(name, seconds, **more):
    return {"name": name, "form": f"form of {name}", "cosine": 0.99876, "seconds": [seconds] * 3,
            "peak_gflops": [100.0] * 3, "disturbed": [False] * 3, **more}


def row(tokens, *contestants, **more):
    return {"kind": "attention", "tokens": tokens, "model": 32, "heads": 4, "mask": "full", "flops": 1e6,
            "contestants": contestants, **more}


INT8 = {"precision": "int8"}
LADON, LADON_FLOAT32 = contestant("Ladon", 2e-5), contestant("Ladon float32", 3e-5)


class Figures(unittest.TestCase):
    def test_a_missing_contestant_leaves_a_blank_cell(self):
        rows = [row(16, LADON, contestant("One", 4e-5), **INT8), row(32, LADON, contestant("Two", 8e-5), **INT8)]
        lines = figures.tables({"rows": rows}).splitlines()
        self.assertIn("| 16, 32, 4 | full | 20.0 | 40.0 |  | 0 |", lines)
        self.assertIn("| 32, 32, 4 | full | 20.0 |  | 80.0 | 0 |", lines)
        self.assertIn("| 16, 32, 4 | full | 0.99876 | 0.99876 |  |", lines)
        self.assertIn("| 32, 32, 4 | full |  | form of Two |", lines)

    def test_float32_has_shares_of_the_peak_and_no_cosines(self):
        text = figures.tables({"rows": [row(16, LADON, contestant("One", 4e-5))]})
        self.assertIn("| 16, 32, 4 | full | 50.0 | 25.0 | 0 |", text)
        self.assertNotIn("cosine", text)

    def test_ladon_with_float32_weights_is_no_other_library(self):
        one = row(16, LADON, LADON_FLOAT32, contestant("One", 4e-5), **INT8)
        self.assertAlmostEqual(figures.ratio_to_fastest(one), 2)
        self.assertIsNone(figures.ratio_to_fastest(row(16, LADON, LADON_FLOAT32, **INT8)))

    def test_the_line_of_a_contestant_has_its_cosine(self):
        text = "\n".join(figures.lines(row(16, LADON, LADON_FLOAT32, **INT8)))
        self.assertIn("attention/16,32,4/full/int8", text)
        self.assertIn("30.0 us, cosine 0.99876    1.50 (1.50, 1.50)  form of Ladon float32", text)


if __name__ == "__main__":
    unittest.main()
