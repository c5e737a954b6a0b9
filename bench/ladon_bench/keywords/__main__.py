"""keywords --programs FOLDER [--rounds N] [--parts chain model] [--peers NAME ...] [--core N] [--seconds S]
[--patience S] [--json FILE] [--markdown FILE]

Measures KWT-1, a keyword spotting model, in Ladon and in other libraries, in alternating rounds on one core, with one
thread each. The part "chain" computes logits from one second of sound. The part "model" computes logits from features.
Weights are float32 and int8. `./dev bench keywords` builds the program, fetches the model, installs the peers, and runs
this program.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import wave

import numpy as np

from ladon_bench.keywords import tables
from ladon_bench.keywords.model import SAMPLES, Model, features
from ladon_bench.keywords.serving import CHAIN, FLOAT32, INT8, INT8_EVERYWHERE, MODEL, SHAPES
from ladon_bench.machine import machine_of, pinned
from ladon_bench.paths import ROOT
from ladon_bench.peers import driver
from ladon_bench.peers.model_contestant import ModelContestant
from ladon_bench.peers.rounds import race
from ladon_bench.process import Failure, python_peers

RECORDINGS = [f"{name}_1000ms.wav" for name in ("yes", "no", "noise", "silence")]
TOLERANCE = 1e-3  # largest accepted difference between float32 logits and the logits in float64
CLEAR = 0.6  # if the two largest logits in float64 differ by more, an int8 model must give the label of the largest
PRECISIONS = {CHAIN: [FLOAT32, INT8, INT8_EVERYWHERE], MODEL: [FLOAT32, INT8]}


class Contestant(ModelContestant):
    def __init__(self, key, command, precision, case, work, options):
        self.precision = precision
        super().__init__(key, command, f"{case['part']}, {precision}", work, options.cores, precision=precision, **case)
        self.windows = case["windows"]
        self.errors = {}  # for each form, the largest difference of a logit

    def wrong(self, form, output, wanted):
        """Returns a description of the error of the logits, or None. Comparisons are false for NaN."""
        self.errors[form] = float(np.abs(output - wanted).max())
        if self.precision == FLOAT32:
            return None if self.errors[form] <= TOLERANCE else f"logits are off by {self.errors[form]:.1e}"
        largest = np.sort(wanted, axis=1)
        clear = largest[:, -1] - largest[:, -2] > CLEAR
        labels_equal = output.argmax(axis=1)[clear] == wanted.argmax(axis=1)[clear]
        return None if np.isfinite(output).all() and labels_equal.all() else "another label than in float64"

    def round(self, seconds):
        """Returns the seconds of one window."""
        return super().round(seconds) / self.windows

    def figures(self):
        return {"name": self.name, "precision": self.precision, "form": self.form, "error": self.errors[self.form],
                "seconds": self.seconds, "peak_gflops": self.peaks, "disturbed": self.disturbed}


def fetched(name):
    """Returns the path of a file of the model."""
    found = subprocess.run([sys.executable, str(ROOT / "examples/keywords/fetch_model"), "--find", name],
                           stdout=subprocess.PIPE, text=True)
    if found.returncode != 0:
        raise Failure(f"{name} is missing: examples/keywords/fetch_model --all gets the files")
    return found.stdout.strip()


def samples_of(path):
    with wave.open(path) as file:
        return np.frombuffer(file.readframes(SAMPLES), "<i2") / 32768


def commands_of(part, peers, options):
    """Returns {key: (command, precision)}. Ladon comes first, because the peers are compared with Ladon."""
    ladon = [str(options.programs / "ladon_keywords_peer")]
    commands = {"ladon": (ladon, FLOAT32), "ladon_int8": (ladon, INT8)}
    for name in options.peers:
        for precision in PRECISIONS[part]:
            commands[f"{name}_{precision.replace(' ', '_')}"] = peers[name], precision
    return commands


def measure(part, model, windows, peers, options):
    """Measures one part. Returns a row of figures and the contestants. The row has the seconds of one window for each
    round and contestant."""
    inputs = np.array([features(window) if part == MODEL else window for window in windows], np.float32)
    wanted = np.array([model.logits(x if part == MODEL else features(x)) for x in inputs.astype(np.float64)])
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        work = pathlib.Path(folder)
        inputs.tofile(work / "inputs")
        case = {"model": fetched("kwt1.safetensors"), "tflite": fetched("non_stream.tflite"), "part": part,
                "windows": len(windows), "inputs": str(work / "inputs")}
        start = lambda key, about: [Contestant(key, *about, case, work, options)]
        contestants = race(start, commands_of(part, peers, options), wanted, options)
    return {"part": part, "contestants": [one.figures() for one in contestants]}, contestants


def parse():
    peers = python_peers("keywords")
    parser = argparse.ArgumentParser(prog="dev bench keywords", description=__doc__.split("\n\n")[1])
    driver.add_arguments(parser, rounds=15, seconds=0.05)
    parser.add_argument("--parts", nargs="*", choices=list(SHAPES), default=list(SHAPES), help="default: both")
    parser.add_argument("--peers", nargs="*", choices=list(peers), default=list(peers), help="default: all")
    options = parser.parse_args()
    options.cores = pinned(1, options.core)
    return options, peers


def main():
    options, peers = parse()
    model = Model(fetched("kwt1.safetensors"))
    windows = [samples_of(fetched(name)) for name in RECORDINGS]
    all_figures = {"machine": {}, "rows": []}
    for part in options.parts:
        row, contestants = measure(part, model, windows, peers, options)
        all_figures["machine"] = machine_of(contestants, options, all_figures["machine"])
        all_figures["rows"].append(row)
        print("\n".join(tables.lines(row)), flush=True)
        driver.save(all_figures, options, tables.markdown)


if __name__ == "__main__":
    driver.run(main)
