"""minilm --programs FOLDER --model FOLDER [--precision float32|bfloat16|int8] [--rounds N] [--tokens 8 ...]
[--sentences 1 ...] [--peers NAME ...] [--core N] [--seconds S] [--patience S] [--json FILE] [--markdown FILE]

Measures all-MiniLM-L6-v2 from token ids to unit vectors, in Ladon and in other libraries, in alternating rounds on one
core, with one thread each. With --precision int8 or bfloat16, the linear layers of the peers have weights of this
precision. Ladon runs twice, with weights of this precision and with float32 weights. Of the peers, only OpenVINO can
compute with bfloat16 weights. `./dev bench minilm` builds the program, installs the peers, and runs this program.
"""

import argparse
import pathlib
import tempfile

import numpy as np

from ladon_bench.machine import machine_of, pinned
from ladon_bench.minilm import tables
from ladon_bench.minilm.model import Weights, expected, flops
from ladon_bench.paths import ROOT
from ladon_bench.peers import driver
from ladon_bench.peers.contestant import LADON_FLOAT32, compared, name_of, precision_of
from ladon_bench.peers.model_contestant import ModelContestant
from ladon_bench.peers.rounds import race
from ladon_bench.process import Process, python_peers

# Lengths of a single sentence: whole registers and panels, and lengths just above them.
TOKENS = [4, 8, 9, 12, 16, 17, 20, 24, 32, 33, 40, 65, 100, 128]
SENTENCES = [1, 2, 4, 8, 16, 32]  # numbers of sentences of mixed lengths
SHORTEST, LONGEST = 4, 40  # tokens of sentences of mixed lengths
SEED = 20261101
EACH, TOGETHER = tables.EACH, tables.TOGETHER


class Contestant(ModelContestant):
    def __init__(self, key, command, way, sentences, work, options):
        self.way = way
        self.precision = precision_of(key, options.precision)
        super().__init__(key, command, f"{len(sentences)} sentences, {way}", work, options.cores,
                         model=str(options.model / "model.safetensors"), sentences=sentences,
                         together=way == TOGETHER, precision=self.precision)
        self.name = name_of(key, self.name)
        self.cosine = {}  # for each form, the smallest cosine of all sentences

    def wrong(self, form, output, wanted):
        """Returns a description of the error of the vectors, or None."""
        self.cosine[form], wrong = compared(output, wanted, self.precision)
        return wrong

    def figures(self):
        return {"name": self.name, "way": self.way, "form": self.form, "precision": self.precision,
                "cosine": self.cosine[self.form], "seconds": self.seconds, "peak_gflops": self.peaks,
                "disturbed": self.disturbed}


def measure(sentences, ways, weights, commands, options):
    """Measures one case. Returns a row of figures and the contestants. The row has the seconds and the peak of each
    round and contestant."""
    wanted = np.array([expected(weights, ids) for ids in sentences])
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        # `start` returns a generator and not a list, so that `race` has the first Contestant before the second starts.
        # If the second cannot start, `race` can then end the process of the first.
        start = lambda key, command: (Contestant(key, command, way, sentences, pathlib.Path(folder), options)
                                      for way in ways)
        contestants = race(start, commands, wanted, options)
    row = {"tokens": [len(ids) for ids in sentences], "flops": sum(flops(len(ids)) for ids in sentences),
           "contestants": [one.figures() for one in contestants]}
    return row, contestants


def cases(options, commands, work):
    """Returns the cases: sentences, and the ways to compute the sentences. Each sentence is a piece of the licence
    text, as token ids."""
    ladon = Process(commands["ladon"], options.cores, 1, work / "ids.log")
    text = (ROOT / "LICENSE").read_text()
    ids = ladon.ask("ids", vocabulary=str(options.model / "vocab.txt"), text=text)["ids"]
    ladon.end()
    begin, *words, end = ids
    piece = lambda first, count: [begin, *words[first:first + count - 2], end]
    random = np.random.default_rng(SEED)
    lengths = random.integers(SHORTEST, LONGEST, SENTENCES[-1], endpoint=True).tolist()
    firsts = random.integers(0, len(words) - LONGEST, SENTENCES[-1]).tolist()
    mixed = [piece(first, length) for first, length in zip(firsts, lengths)]
    return ([([piece(0, tokens)], [EACH]) for tokens in options.tokens]
            + [(mixed[:count], [EACH, TOGETHER]) for count in options.sentences])


def parse():
    peers = python_peers("minilm")
    parser = argparse.ArgumentParser(prog="dev bench minilm", description=__doc__.split("\n\n")[1])
    driver.add_arguments(parser, rounds=15, seconds=0.05)
    parser.add_argument("--model", required=True, type=pathlib.Path, help="folder of model.safetensors and vocab.txt")
    parser.add_argument("--precision", choices=["float32", "bfloat16", "int8"], default="float32",
                        help="precision of the weights of linear layers (default: %(default)s)")
    parser.add_argument("--tokens", nargs="*", type=int, choices=range(2, 257), metavar="N", default=TOKENS,
                        help="lengths of a single sentence (default: %(default)s)")
    parser.add_argument("--sentences", nargs="*", type=int, choices=range(1, SENTENCES[-1] + 1), metavar="N",
                        default=SENTENCES, help="numbers of sentences of mixed lengths (default: %(default)s)")
    parser.add_argument("--peers", nargs="*", choices=list(peers), default=list(peers), help="default: all")
    options = parser.parse_args()
    ladon = [str(options.programs / "ladon_minilm_peer")]
    commands = {"ladon": ladon, **({LADON_FLOAT32: ladon} if options.precision != "float32" else {}),
                **{key: peers[key] for key in options.peers}}
    options.cores = pinned(1, options.core)
    return options, commands


def main():
    options, commands = parse()
    weights = Weights(options.model / "model.safetensors")
    all_figures = {"machine": {}, "rows": []}
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        all_cases = cases(options, commands, pathlib.Path(folder))
    for sentences, ways in all_cases:
        row, contestants = measure(sentences, ways, weights, commands, options)
        all_figures["machine"] = machine_of(contestants, options, all_figures["machine"])
        all_figures["rows"].append(row)
        print("\n".join(tables.lines(row)), flush=True)
        driver.save(all_figures, options, tables.markdown)


if __name__ == "__main__":
    driver.run(main)
