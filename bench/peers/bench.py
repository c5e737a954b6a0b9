"""bench.py --programs FOLDER [--rounds N] [--shapes 16,32,4 ...] [--masks full causal]
[--kinds attention encoder_layer] [--peers NAME ...] [--threads N] [--core N] [--seconds S] [--patience S]
[--json FILE] [--markdown FILE] [--scaling]

Ladon beside other libraries, one thread each, all on one core, or several threads on as many, in alternating rounds.
`./dev bench peers` builds the programs, installs the peers, and runs this.
"""

import argparse
import dataclasses
import json
import pathlib

import driver
import figures
from cases import ATTENTION, ENCODER_LAYERS, SCALING_MODEL, SCALING_TOKENS, Case
from machine import machine_of, pinned
from process import python_peers
from rounds import measure

here = pathlib.Path(__file__).parent


def chosen_cases(options):
    if options.scaling:
        everything = [Case("attention", *shape, mask) for shape in dict.fromkeys(SCALING_TOKENS + SCALING_MODEL)
                      for mask in options.masks]
    else:
        everything = [Case("attention", *shape, mask) for shape in ATTENTION for mask in options.masks]
        everything += [Case("encoder_layer", *shape, "full") for shape in ENCODER_LAYERS]
    cases = [case for case in everything if case.kind in options.kinds
             and (not options.shapes or (case.tokens, case.model, case.heads) in options.shapes)]
    shapes = {(case.tokens, case.model, case.heads) for case in everything}
    for shape in options.shapes or []:
        if shape not in shapes:
            raise SystemExit(f"bench: no shape {','.join(map(str, shape))}, but "
                             + " ".join(sorted({",".join(map(str, one)) for one in shapes})))
    return [dataclasses.replace(case, threads=options.threads) for case in cases]


def commands_of(options):
    """Ladon's first, and then those of the peers that are asked for."""
    peers = {"onednn": [str(options.programs / "onednn_peer")], **python_peers(here)}
    program = options.programs / ("ladon_peer_scaling" if options.scaling else "ladon_peer")
    return {"ladon": [str(program)], **{key: peers[key] for key in (peers if options.peers is None else options.peers)}}


def parse():
    sizes = lambda text: tuple(int(part) for part in text.split(","))
    parser = argparse.ArgumentParser(prog="dev bench peers", description=__doc__.split("\n\n")[1])
    driver.add_arguments(parser, rounds=31, seconds=0.002)
    parser.add_argument("--scaling", action="store_true", help="how the cost grows with tokens and with the width")
    parser.add_argument("--threads", type=int, default=1, help="that make a call together (default: %(default)s)")
    parser.add_argument("--shapes", nargs="+", type=sizes, metavar="TOKENS,MODEL,HEADS")
    parser.add_argument("--masks", nargs="+", choices=["full", "causal"], default=["full", "causal"])
    parser.add_argument("--kinds", nargs="+", choices=["attention", "encoder_layer"],
                        default=["attention", "encoder_layer"])
    parser.add_argument("--peers", nargs="*", choices=["onednn", *python_peers(here)], help="default: all")
    options = parser.parse_args()
    options.cores = pinned(options.threads, options.core)
    return options


def main():
    options = parse()
    commands = commands_of(options)
    all_figures = {"machine": {}, "scaling": options.scaling, "threads": options.threads, "rows": []}
    for case in chosen_cases(options):
        row, contestants = measure(case, commands, options)
        if not all_figures["rows"]:
            print(f"{json.dumps(contestants[0].machine)}\n\n{figures.HEADING}")
        all_figures["machine"] = machine_of(contestants, options, all_figures["machine"])
        all_figures["rows"].append(row)
        print("\n".join(figures.lines(row)), flush=True)
        driver.save(all_figures, options, figures.markdown)


if __name__ == "__main__":
    driver.run(main)
