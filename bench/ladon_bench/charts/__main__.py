"""charts FILE.json ... [--to FOLDER] [--markdown]

Draws the JSON files of the benchmarks as SVG. The name of a file is the name of the benchmark, but the files of `./dev
bench peers` may have any name. --markdown also prints the tables of `./dev bench peers`. `./dev bench charts` runs this
program.
"""

import argparse
import json
import pathlib

from ladon_bench import figures
from ladon_bench.charts import machine, minilm, peers
from ladon_bench.paths import BENCH
from ladon_bench.tables import MINILM_PARTS


def is_of_peers(measured):
    return "scaling" in measured


def draw_peers(measured, folder):
    """Draws the figures of float32 weights. Figures of int8 weights have no pictures, only tables."""
    if measured.get("precision") == "int8":
        return
    rows, suffix = measured["rows"], f"_{measured['threads']}_threads" if measured.get("threads", 1) > 1 else ""
    if measured["scaling"]:
        return peers.draw_scaling(rows, folder / "scaling.svg")
    peers.draw_shares(rows, folder / f"share_of_peak{suffix}.svg")
    if len(peers.names_of(rows)) > 1:
        peers.draw_ratios(rows, folder / f"times_as_fast{suffix}.svg")


def draw_roofline(known, folder):
    if {"ceilings", "native"} <= known.keys():
        rows = [row for row in known["native"]["rows"] if row["mask"] == "full"]
        machine.draw_roofline(known["ceilings"], rows, folder / "roofline.svg")


def draw_minilm(known, folder):
    """Draws the figures of all precisions together, so the files of all precisions must be given."""
    if known.keys() >= set(MINILM_PARTS.values()):
        minilm.draw({precision: known[name] for precision, name in MINILM_PARTS.items()}, folder / "minilm.svg")


DRAW = {"ceilings": draw_roofline,
        "memory": lambda known, folder: machine.draw_memory(known["memory"]["rows"], folder / "memory.svg"),
        "minilm": draw_minilm,
        "start": lambda known, folder: machine.draw_start(known["start"]["rows"], folder / "start.svg"),
        "threads": lambda known, folder: machine.draw_threads(known["threads"]["rows"], folder / "threads.svg")}


def main():
    parser = argparse.ArgumentParser(prog="dev bench charts", description=__doc__.split("\n\n")[1])
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--to", type=pathlib.Path, default=BENCH / "charts", help="folder (default: bench/charts)")
    parser.add_argument("--markdown", action="store_true", help="also print the tables of peers")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    known = {file.stem: json.loads(file.read_text()) for file in options.files}
    for name, measured in known.items():
        if is_of_peers(measured):
            draw_peers(measured, options.to)
            if options.markdown:
                print(figures.markdown(measured))
        elif draw := DRAW.get(name):
            draw(known, options.to)


if __name__ == "__main__":
    main()
