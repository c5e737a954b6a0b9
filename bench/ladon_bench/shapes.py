"""The shapes of shapes.json, the only list of the shapes that the benchmarks measure."""

import json

from ladon_bench.paths import BENCH

_SHAPES = json.loads((BENCH / "shapes.json").read_text())


def shapes(name):
    """Returns the shapes of a list, each as (tokens, model, heads)."""
    return [tuple(shape) for shape in _SHAPES[name]]


def texts(name):
    """Returns the shapes of a list, each as the text "tokens,model,heads" for options."""
    return [",".join(map(str, shape)) for shape in _SHAPES[name]]
