"""The driver's side of a peer that computes a whole model. model_serving.py is the peer's side."""

import numpy as np

from ladon_bench.peers.contestant import TRIALS, wrong_numbers
from ladon_bench.process import Failure, Process, say


class ModelContestant:
    """A peer in one case: starts the peer's process, chooses the fastest form, and measures rounds. A subclass decides
    which results are wrong."""

    def __init__(self, key, command, title, work, cores, **case):
        self.key, self.title, self.work = key, title, work
        self.process = Process(command, cores, 1, work / f"{key}.log")
        try:
            hello = self.process.ask("case", **case)
        except Failure:
            self.process.end()
            raise
        self.name, self.versions, self.forms = hello["name"], hello["versions"], hello["forms"]
        self.machine = hello.get("machine")
        self.form, self.seconds, self.peaks, self.disturbed = None, [], [], []

    def wrong(self, form, output, wanted):
        """Returns a description of the error of the output, or None. A NaN is wrong."""
        raise NotImplementedError

    def choose_form(self, wanted, seconds, wait_for_quiet):
        """Keeps the fastest form with right results."""
        best = {}
        for form in self.forms:
            try:
                self.process.ask("build", form=form, output=str(self.work / "output"))
                output = np.fromfile(self.work / "output", dtype=np.float32).reshape(wanted.shape)
                if wrong := self.wrong(form, output, wanted):
                    wrong_numbers.append(f"{self.title}: {self.name}, {form}: {wrong}")
                    say(wrong_numbers[-1])
                else:
                    best[form] = self.fastest(form, seconds, wait_for_quiet)
            except Failure as failure:
                if self.process.ended():
                    raise
                say(f"{self.title}: {self.name}, {form}, is left out: {failure}")
        if not best:
            raise Failure("no form of it works")
        self.form = min(best, key=best.get)
        for form in self.forms:
            if form != self.form:
                self.process.ask("drop", form=form)

    def fastest(self, form, seconds, wait_for_quiet):
        times = []
        for _ in range(TRIALS):
            wait_for_quiet()
            times.append(self.process.ask("round", form=form, seconds=seconds)["seconds"])
        return min(times)

    def round(self, seconds):
        answer = self.process.ask("round", form=self.form, seconds=seconds)
        self.interrupted = answer["interrupted"]
        return answer["seconds"]
