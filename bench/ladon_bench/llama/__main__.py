"""llama --programs FOLDER --model FOLDER [--rounds N] [--weights 8 4] [--peers NAME ...] [--core N] [--seconds S]
[--patience S] [--json FILE] [--markdown FILE]

Measures a language model with the sizes of SmolLM2-135M and random weights of 8 and of 4 bits in Ladon and in
llama.cpp, in alternating rounds on one core, with one thread each: prompts of 128 and 512 tokens, and tokens that
follow 128 and 1024 others. `./dev bench llama` builds the program, installs llama.cpp, and runs this program, which
writes the model.
"""

import argparse
import pathlib
import tempfile

import numpy as np

from ladon_bench.llama import tables
from ladon_bench.llama.model import VOCABULARY, expected, prepared
from ladon_bench.machine import machine_of, pinned
from ladon_bench.peers import driver
from ladon_bench.peers.model_contestant import ModelContestant
from ladon_bench.peers.rounds import race
from ladon_bench.process import python_peers

CASES = [{"depth": 0, "measured": 128, "together": True}, {"depth": 0, "measured": 512, "together": True},
         {"depth": 128, "measured": 16, "together": False}, {"depth": 1024, "measured": 16, "together": False}]
SMALLEST_COSINE = {"8 bits": 0.99, "4 bits": 0.8}  # random weights lose more by 4 bits than those of a trained model


class Contestant(ModelContestant):
    def __init__(self, key, command, case, about, work, options):
        self.smallest, self.measured, self.cosines = SMALLEST_COSINE[case["precision"]], about["measured"], {}
        super().__init__(key, command, f"{case['precision']}, {tables.title(about)}", work, options.cores, **case)

    def wrong(self, form, output, wanted):
        """Returns a description of the error of the logits, or None. Comparisons are false for NaN."""
        cosine = output @ wanted / (np.linalg.norm(output) * np.linalg.norm(wanted))
        self.cosines[form] = float(cosine)
        return None if cosine >= self.smallest else f"the cosine to float64 is {cosine:.4f}"

    def round(self, seconds):
        """Returns the seconds of one token."""
        return super().round(seconds) / self.measured

    def figures(self):
        return {"name": self.name, "form": self.form, "cosine": self.cosines[self.form], "seconds": self.seconds,
                "peak_gflops": self.peaks, "disturbed": self.disturbed}


def measure(about, bits, weights, peers, options):
    """Measures one case. Returns a row of figures and the contestants."""
    ids = (np.arange(about["depth"] + about["measured"]) * 7919 + 13) % VOCABULARY
    wanted = expected(weights, ids)
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        work = pathlib.Path(folder)
        ids.astype(np.int32).tofile(work / "inputs")
        case = {"model": str(options.model), "precision": bits, "tokens": len(ids), "inputs": str(work / "inputs"),
                "depth": about["depth"], "together": about["together"]}
        commands = {"ladon": [str(options.programs / "ladon_llama_peer")]}
        commands.update({name: peers[name] for name in options.peers})
        start = lambda key, command: [Contestant(key, command, case, about, work, options)]
        contestants = race(start, commands, wanted, options)
    return {**about, "precision": bits, "contestants": [one.figures() for one in contestants]}, contestants


def parse():
    peers = python_peers("llama")
    parser = argparse.ArgumentParser(prog="dev bench llama", description=__doc__.split("\n\n")[1])
    driver.add_arguments(parser, rounds=9, seconds=0.3)
    parser.add_argument("--model", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--weights", nargs="*", type=int, choices=[8, 4], default=[8, 4], help="bits (default: both)")
    parser.add_argument("--peers", nargs="*", choices=list(peers), default=list(peers), help="default: all")
    options = parser.parse_args()
    options.cores = pinned(1, options.core)
    return options, peers


def main():
    options, peers = parse()
    weights = prepared(options.model)
    all_figures = {"machine": {}, "rows": []}
    for bits in options.weights:
        for about in CASES:
            row, contestants = measure(about, f"{bits} bits", weights, peers, options)
            all_figures["machine"] = machine_of(contestants, options, all_figures["machine"])
            all_figures["rows"].append(row)
            print("\n".join(tables.lines(row)), flush=True)
            driver.save(all_figures, options, tables.markdown)


if __name__ == "__main__":
    driver.run(main)
