"""bench.py --programs FOLDER [--rounds N] [--shapes 16,32,4 ...] [--masks full causal]
[--kinds attention encoder_layer] [--peers NAME ...] [--core N] [--seconds S] [--json FILE] [--markdown FILE]
[--scaling]

Ladon beside other libraries, one thread each, all on one core, in alternating rounds. `./dev bench peers` builds the
programs, installs the peers, and runs this.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import sys
import tempfile

import numpy as np

import figures
from cases import ATTENTION, ENCODER_LAYERS, SCALING_MODEL, SCALING_TOKENS, Case, expected, numbers, write_numbers
from process import Failure, Process, python_peers

TOLERANCE = 1e-4  # of the largest number that must come out
CHAIN = 9  # layers in one call: their time less that of one, over eight, is a layer's without the call's own cost
TRIALS = 3

here = pathlib.Path(__file__).parent
wrong_numbers = []  # what is in here makes the run a failure, at its end


class WrongNumbers(Exception):
    pass


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Contestant:
    """A peer in one case: from a process that may not even start to the seconds of a layer in every round."""

    def __init__(self, key, command, case, places, work, core):
        self.case, self.work, self.key = case, work, key
        self.process = Process(command, core, work / f"{key}.log")
        fields = {name: getattr(case, name) for name in ("kind", "tokens", "model", "heads", "mask")}
        try:
            hello = self.process.ask("case", numbers=str(work / "numbers"), places=places, **fields)
        except Failure:
            self.process.end()
            raise
        self.name, self.versions, self.forms = hello["name"], hello["versions"], hello["forms"]
        self.machine = hello.get("machine")
        self.layers = (CHAIN, 1) if case.chained and hello.get("chains") else (1,)
        self.form, self.built, self.seconds, self.peaks = None, set(), [], []

    def choose_form(self, wanted, seconds):
        """Keeps the fastest of those that give the right numbers.

        Of chained ones the two that are fastest with one layer are tried: nine take long to compile.
        """
        single = self.try_forms(self.forms, self.layers[-1:], wanted, seconds)
        finalists = sorted(single, key=single.get)[:2]
        best = self.try_forms(finalists, self.layers, wanted, seconds) if len(self.layers) > 1 else single
        if not best:
            raise Failure("no form of it works")
        self.form = min(best, key=best.get)
        for form in self.forms:
            if form != self.form:
                self.process.ask("drop", form=form)

    def try_forms(self, forms, layers, wanted, seconds):
        """Builds what is not built yet. A layer's seconds, the best of some rounds, by form."""
        best = {}
        for form in forms:
            try:
                for count in layers:
                    if (form, count) not in self.built:
                        self.process.ask("build", form=form, layers=count, output=str(self.work / "output"))
                        self.check(form, count, wanted[count])
                        self.built.add((form, count))
                rounds = [self.times(form, layers, seconds) for _ in range(TRIALS)]
                best[form] = self.layer(min(times) for times in zip(*rounds))
            except WrongNumbers as wrong:
                wrong_numbers.append(str(wrong))
                say(wrong)
            except Failure as failure:
                if self.process.ended():
                    raise
                say(f"{self.case.name}: {self.name}, {form}, is left out: {failure}")
        return best

    def check(self, form, layers, wanted):
        output = np.fromfile(self.work / "output", dtype=np.float32).reshape(wanted.shape)
        error = np.abs(output - wanted).max() / np.abs(wanted).max()
        if not error <= TOLERANCE:  # a NaN is wrong, too
            raise WrongNumbers(f"{self.case.name}: {self.name}, {form}, {layers} layers in a call: "
                               f"off by {error:.1e} of the largest number")

    def times(self, form, layers, seconds):
        return [self.process.ask("round", form=form, layers=count, seconds=seconds)["seconds"] for count in layers]

    @staticmethod
    def layer(times):
        """A layer's seconds, of those of a call of nine and a call of one where there are both."""
        first, *one = times
        return (first - one[0]) / (CHAIN - 1) if one else first

    def round(self, seconds):
        self.seconds.append(self.layer(self.times(self.form, self.layers, seconds)))


def measure(case, commands, options):
    """A row of figures: every round's seconds of everyone, and the peak beside them."""
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        work = pathlib.Path(folder)
        given = numbers(case)
        places = write_numbers(given, work / "numbers")
        wanted = {layers: expected(case, given, layers) for layers in ({1, CHAIN} if case.chained else {1})}
        contestants = []
        try:
            for key in list(commands):
                try:
                    contestants.append(Contestant(key, commands[key], case, places, work, options.core))
                except Failure as failure:
                    if key == "ladon":
                        raise
                    say(f"{key} is left out: {failure}")
                    del commands[key]  # of all cases: what it needs is not installed
            for one in list(contestants):
                with left_out_if_it_fails(one, contestants):
                    one.choose_form(wanted, options.seconds)
            alternate(contestants, options)
        finally:
            for one in contestants:
                one.process.end()
        return row_of(case, contestants), contestants


def alternate(contestants, options):
    ceiling = contestants[0].process
    for _ in range(options.rounds):
        before = ceiling.ask("peak")["gflops"]
        for one in list(contestants):
            with left_out_if_it_fails(one, contestants):
                one.round(options.seconds)
            after = ceiling.ask("peak")["gflops"]
            one.peaks.append((before + after) / 2)
            before = after


@contextlib.contextmanager
def left_out_if_it_fails(one, contestants):
    """Of this case; without Ladon there is nothing to compare with."""
    try:
        yield
    except Failure as failure:
        if one.key == "ladon":
            raise
        say(f"{one.case.name}: {one.name} is left out: {failure}")
        contestants.remove(one)
        one.process.end()


def row_of(case, contestants):
    return {"kind": case.kind, "tokens": case.tokens, "model": case.model, "heads": case.heads, "mask": case.mask,
            "flops": case.flops,
            "contestants": [{"name": one.name, "form": one.form, "layers_in_a_call": one.layers[0],
                             "seconds": one.seconds, "peak_gflops": one.peaks} for one in contestants]}


def machine_of(contestants, options, known):
    ladon = contestants[0].machine
    versions = {**known.get("versions", {}), **{name: version for one in contestants
                                                for name, version in one.versions.items()}}
    return {**ladon, "system": system(), "kernel": platform.release(), "python": platform.python_version(),
            "core": options.core, "rounds": options.rounds, "seconds_a_round": options.seconds, "versions": versions,
            "date": known.get("date") or datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "load_at_start": known.get("load_at_start") or os.getloadavg()}


def system():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.platform()


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
    return cases


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
    parser.add_argument("--seconds", type=float, default=0.005, help="of a round, each (default: %(default)s)")
    parser.add_argument("--shapes", nargs="+", type=sizes, metavar="TOKENS,MODEL,HEADS")
    parser.add_argument("--masks", nargs="+", choices=["full", "causal"], default=["full", "causal"])
    parser.add_argument("--kinds", nargs="+", choices=["attention", "encoder_layer"],
                        default=["attention", "encoder_layer"])
    parser.add_argument("--peers", nargs="*", choices=["onednn", *python_peers(here)], help="default: all")
    parser.add_argument("--core", type=int, help="all run on this one (default: the last that may be used)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    if not hasattr(os, "sched_setaffinity"):
        say("this system pins no process to a core: figures are less sure")
        return options
    allowed = os.sched_getaffinity(0)
    if options.core is None:
        options.core = max(allowed)
    if allowed > {options.core}:
        os.sched_setaffinity(0, allowed - {options.core})  # this process itself keeps off it
    return options


def main():
    options = parse()
    commands = commands_of(options)
    all_figures = {"machine": {}, "scaling": options.scaling, "rows": []}
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
