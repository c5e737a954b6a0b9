"""peers --programs FOLDER [--rounds N] [--shapes 16,32,4 ...] [--masks full causal]
[--kinds attention encoder_layer] [--precision float32|int8] [--peers NAME ...] [--threads N] [--core N] [--seconds S]
[--patience S] [--json FILE] [--markdown FILE] [--scaling]

Compares Ladon with other libraries in alternating rounds, with one thread each on one core, or with several threads on
the same number of cores. With --precision int8, the linear layers have int8 weights, and Ladon runs twice: with int8
and with float32 weights. `./dev bench peers` builds the programs, installs the peers, and runs this program.
"""

import argparse
import dataclasses
import json

from ladon_bench import figures
from ladon_bench.machine import machine_of, pinned
from ladon_bench.peers import driver
from ladon_bench.peers.cases import Case
from ladon_bench.peers.contestant import LADON_FLOAT32
from ladon_bench.peers.rounds import measure
from ladon_bench.process import python_peers
from ladon_bench.shapes import shapes, texts

INT8_PEERS = ["litert", "onnxruntime", "openvino"]  # the peers with forms of int8


def chosen_cases(options):
    if options.scaling:
        everything = [Case("attention", *shape, mask) for shape in shapes("scaling") for mask in options.masks]
    else:
        everything = [Case("attention", *shape, mask) for shape in shapes("attention") for mask in options.masks]
        everything += [Case("encoder_layer", *shape, "full") for shape in shapes("encoder_layer")]
    cases = [case for case in everything if case.kind in options.kinds
             and (not options.shapes or (case.tokens, case.model, case.heads) in options.shapes)]
    known = texts("scaling") if options.scaling else list(dict.fromkeys(texts("attention") + texts("encoder_layer")))
    for shape in options.shapes or []:
        if (text := ",".join(map(str, shape))) not in known:
            raise SystemExit(f"bench: there is no shape {text}; there are {' '.join(known)}")
    return [dataclasses.replace(case, threads=options.threads, precision=options.precision) for case in cases]


def commands_of(options):
    """Returns {name: command}: Ladon first, then the chosen peers."""
    peers = {"onednn": [str(options.programs / "onednn_peer")], **python_peers("peers")}
    program = lambda name: [str(options.programs / name)]
    ladon = {"ladon": program("ladon_peer_scaling" if options.scaling else "ladon_peer")}
    if options.precision == "int8":
        ladon = {"ladon": program("ladon_peer_int8"), LADON_FLOAT32: program("ladon_peer")}
    every = INT8_PEERS if options.precision == "int8" else list(peers)
    return {**ladon, **{key: peers[key] for key in (every if options.peers is None else options.peers)}}


def parse():
    sizes = lambda text: tuple(int(part) for part in text.split(","))
    parser = argparse.ArgumentParser(prog="dev bench peers", description=__doc__.split("\n\n")[1])
    driver.add_arguments(parser, rounds=31, seconds=0.002)
    parser.add_argument("--scaling", action="store_true", help="measure how the cost grows with tokens and width")
    parser.add_argument("--threads", type=int, default=1, help="threads that share a call (default: %(default)s)")
    parser.add_argument("--shapes", nargs="+", type=sizes, metavar="TOKENS,MODEL,HEADS")
    parser.add_argument("--masks", nargs="+", choices=["full", "causal"], default=["full", "causal"])
    parser.add_argument("--kinds", nargs="+", choices=["attention", "encoder_layer"],
                        default=["attention", "encoder_layer"])
    parser.add_argument("--precision", choices=["float32", "int8"], default="float32",
                        help="precision of the weights of linear layers (default: %(default)s)")
    parser.add_argument("--peers", nargs="*", choices=["onednn", *python_peers("peers")],
                        help="default: all that have the precision")
    options = parser.parse_args()
    if options.scaling and options.precision == "int8":
        parser.error("--scaling measures float32 only")
    options.cores = pinned(options.threads, options.core)
    return options


def main():
    options = parse()
    commands = commands_of(options)
    all_figures = {"machine": {}, "scaling": options.scaling, "threads": options.threads,
                   "precision": options.precision, "rows": []}
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
