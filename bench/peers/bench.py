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
import sys

import figures
from cases import ATTENTION, ENCODER_LAYERS, SCALING_MODEL, SCALING_TOKENS, Case
from contestant import wrong_numbers
from machine import machine_of, pinned
from process import Failure, python_peers, say
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
    parser.add_argument("--programs", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--scaling", action="store_true", help="how the cost grows with tokens and with the width")
    parser.add_argument("--rounds", type=int, default=31, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.002, help="of a round, each (default: %(default)s)")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS",
                        help="of a case, for rounds made anew that others disturbed (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="that make a call together (default: %(default)s)")
    parser.add_argument("--shapes", nargs="+", type=sizes, metavar="TOKENS,MODEL,HEADS")
    parser.add_argument("--masks", nargs="+", choices=["full", "causal"], default=["full", "causal"])
    parser.add_argument("--kinds", nargs="+", choices=["attention", "encoder_layer"],
                        default=["attention", "encoder_layer"])
    parser.add_argument("--peers", nargs="*", choices=["onednn", *python_peers(here)], help="default: all")
    parser.add_argument("--core", type=int, help="the last of those that all run on (default: the last that may be used)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
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
        # After each case: a run of hours that ends early has what it measured.
        if options.json:
            options.json.write_text(json.dumps(all_figures, indent=1) + "\n")
        if options.markdown:
            options.markdown.write_text(figures.markdown(all_figures))
    for wrong in wrong_numbers:
        say(f"wrong numbers: {wrong}")
    return 1 if wrong_numbers else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        say(failure)
        sys.exit(1)
