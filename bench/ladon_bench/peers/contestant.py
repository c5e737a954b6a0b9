"""Measures a peer in one case."""

import time

import numpy as np

from ladon_bench.process import Failure, Process, say

TOLERANCE = 1e-4  # largest accepted error with float32 weights, as a part of the largest expected number
LEAST_COSINE = {"int8": 0.97, "bfloat16": 0.999}  # smallest accepted cosine, for each precision of the weights
LADON_FLOAT32 = "ladon_float32"  # the key of Ladon with float32 weights, beside another --precision
# A long call computes 9 layers, and a short call computes 1. The difference of their times is the time of 8 layers
# without the overhead of a call.
CHAIN = 9
TRIALS = 3
SETTLED = 0.03  # seconds after which the threads of a pool have stopped spinning

wrong_numbers = []  # descriptions of wrong results; if there are any, the program ends with the exit status 1


class WrongNumbers(Exception):
    pass


def precision_of(key, precision):
    """Returns the precision of the contestant `key`: float32 for LADON_FLOAT32, otherwise `precision`, the option of
    the program."""
    return "float32" if key == LADON_FLOAT32 else precision


def name_of(key, name):
    return f"{name} float32" if key == LADON_FLOAT32 else name


def compared(output, wanted, precision):
    """Returns the smallest cosine between a row of the output and its row in float64, and a description of the error or
    None. All comparisons are false for NaN."""
    lengths = np.linalg.norm(output, axis=1) * np.linalg.norm(wanted, axis=1)
    cosine = float(((output * wanted).sum(axis=1) / lengths).min())
    if precision in LEAST_COSINE:
        return cosine, None if cosine >= LEAST_COSINE[precision] else f"cosine {cosine:.4f}"
    error = np.abs(output - wanted).max() / np.abs(wanted).max()
    return cosine, None if error <= TOLERANCE else f"off by {error:.1e} of the largest number"


class Contestant:
    """A peer in one case: starts the peer's process, chooses the fastest form, and collects the seconds of a layer in
    each round. The constructor raises Failure if the peer cannot start."""

    def __init__(self, key, command, case, places, work, cores):
        self.case, self.work, self.key, self.title = case, work, key, case.name
        self.process = Process(command, cores, case.threads, work / f"{key}.log")
        self.precision = precision_of(key, case.precision)
        fields = {name: getattr(case, name) for name in ("kind", "tokens", "model", "heads", "mask", "threads")}
        try:
            hello = self.process.ask("case", numbers=str(work / "numbers"), places=places, precision=self.precision,
                                     **fields)
        except Failure:
            self.process.end()
            raise
        self.name, self.versions, self.forms = name_of(key, hello["name"]), hello["versions"], hello["forms"]
        self.machine = hello.get("machine")
        self.layers = (CHAIN, 1) if case.chained and hello.get("chains") else (1,)
        self.form, self.built, self.seconds, self.peaks, self.disturbed = None, set(), [], [], []
        self.cosines = {}  # for each form, the smallest cosine of one layer

    def choose_form(self, wanted, seconds, wait_for_quiet):
        """Keeps the fastest form with right results.

        In a chained case, only the two forms that are fastest with one layer are tried with nine layers, because nine
        layers take long to compile.
        """
        single = self.try_forms(self.forms, self.layers[-1:], wanted, seconds, wait_for_quiet)
        best = single
        if len(self.layers) > 1:
            finalists = sorted(single, key=single.get)[:2]
            best = self.try_forms(finalists, self.layers, wanted, seconds, wait_for_quiet)
        if not best:
            raise Failure("no form of it works")
        self.form = min(best, key=best.get)
        for form in self.forms:
            if form != self.form:
                self.process.ask("drop", form=form)

    def try_forms(self, forms, layers, wanted, seconds, wait_for_quiet):
        """Builds the forms that are not built yet. Returns {form: seconds of a layer}, computed from the shortest of
        TRIALS rounds."""
        best = {}
        for form in forms:
            try:
                for count in layers:
                    if (form, count) not in self.built:
                        self.process.ask("build", form=form, layers=count, output=str(self.work / "output"))
                        self.check(form, count, wanted[count])
                        self.built.add((form, count))
                rounds = []
                for _ in range(TRIALS):
                    wait_for_quiet()
                    rounds.append(self.times(form, layers, seconds))
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
        cosine, wrong = compared(output, wanted, self.precision)
        if layers == 1:
            self.cosines[form] = cosine
        if wrong:
            raise WrongNumbers(f"{self.case.name}: {self.name}, {form}, {layers} layers in a call: {wrong}")

    def times(self, form, layers, seconds):
        rounds = [self.process.ask("round", form=form, layers=count, seconds=seconds) for count in layers]
        self.interrupted = any(one["interrupted"] for one in rounds)
        return [one["seconds"] for one in rounds]

    @staticmethod
    def layer(times):
        """Returns the seconds of a layer. `times` has the seconds of a call with nine layers and of a call with one
        layer, or only the seconds of a call with one layer."""
        first, *one = times
        return (first - one[0]) / (CHAIN - 1) if one else first

    def round(self, seconds):
        """Measures a round. Returns the seconds of a layer."""
        taken = self.layer(self.times(self.form, self.layers, seconds))
        if self.case.threads > 1:
            time.sleep(SETTLED)
        return taken

    def figures(self):
        return {"name": self.name, "form": self.form, "precision": self.precision, "cosine": self.cosines[self.form],
                "layers_in_a_call": self.layers[0], "seconds": self.seconds, "peak_gflops": self.peaks,
                "disturbed": self.disturbed}
