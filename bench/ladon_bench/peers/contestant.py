"""A peer in one case, from a process that may not even start to the seconds of a layer."""

import time

import numpy as np

from ladon_bench.process import Failure, Process, say

TOLERANCE = 1e-4  # of the largest number that must come out
CHAIN = 9  # layers in one call: their time less that of one, over eight, is a layer's without the call's own cost
TRIALS = 3
SETTLED = 0.03  # seconds after which threads of a pool have ceased to spin and wait for more to do

wrong_numbers = []  # what is in here makes the run a failure, at its end


class WrongNumbers(Exception):
    pass


class Contestant:
    """A peer in one case: from a process that may not even start to the seconds of a layer in every round."""

    def __init__(self, key, command, case, places, work, cores):
        self.case, self.work, self.key, self.title = case, work, key, case.name
        self.process = Process(command, cores, case.threads, work / f"{key}.log")
        fields = {name: getattr(case, name) for name in ("kind", "tokens", "model", "heads", "mask", "threads")}
        try:
            hello = self.process.ask("case", numbers=str(work / "numbers"), places=places, **fields)
        except Failure:
            self.process.end()
            raise
        self.name, self.versions, self.forms = hello["name"], hello["versions"], hello["forms"]
        self.machine = hello.get("machine")
        self.layers = (CHAIN, 1) if case.chained and hello.get("chains") else (1,)
        self.form, self.built, self.seconds, self.peaks, self.disturbed = None, set(), [], [], []

    def choose_form(self, wanted, seconds, wait_for_quiet):
        """Keeps the fastest of those that give the right numbers.

        Of chained ones the two that are fastest with one layer are tried: nine take long to compile.
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
        """Builds what is not built yet. A layer's seconds, the best of some rounds, by form."""
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
        error = np.abs(output - wanted).max() / np.abs(wanted).max()
        if not error <= TOLERANCE:  # a NaN is wrong, too
            raise WrongNumbers(f"{self.case.name}: {self.name}, {form}, {layers} layers in a call: "
                               f"off by {error:.1e} of the largest number")

    def times(self, form, layers, seconds):
        rounds = [self.process.ask("round", form=form, layers=count, seconds=seconds) for count in layers]
        self.interrupted = any(one["interrupted"] for one in rounds)
        return [one["seconds"] for one in rounds]

    @staticmethod
    def layer(times):
        """A layer's seconds, of those of a call of nine and a call of one where there are both."""
        first, *one = times
        return (first - one[0]) / (CHAIN - 1) if one else first

    def round(self, seconds):
        """A layer's seconds."""
        taken = self.layer(self.times(self.form, self.layers, seconds))
        if self.case.threads > 1:
            time.sleep(SETTLED)
        return taken

    def figures(self):
        return {"name": self.name, "form": self.form, "layers_in_a_call": self.layers[0], "seconds": self.seconds,
                "peak_gflops": self.peaks, "disturbed": self.disturbed}
