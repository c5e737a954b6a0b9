"""The folders of this checkout."""

import pathlib

BENCH = pathlib.Path(__file__).parents[1]
ROOT = BENCH.parent
