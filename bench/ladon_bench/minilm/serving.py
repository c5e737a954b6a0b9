"""What a peer's process hears on its standard input and answers on its standard output: a line of JSON each.

    {"do": "case", "model": FILE, "sentences": [[id, ...], ...], "together": true or false,   the first, once
     "precision": "float32" or "int8"}         together: padded to the longest, in one call; else a call each
        {"name", "versions", "forms": [...]}   precision: of the weights of linear layers, and of their products
    {"do": "build", "form", "output": FILE}    the file has a vector of each sentence, float32
        {}
    {"do": "round", "form", "seconds"}         computes all sentences, again and again, for about so long
        {"seconds", "interrupted"}             of all of them once; whether another process took the core meanwhile
    {"do": "drop", "form"}                     will not be asked for again
        {}

What goes wrong is answered by {"error": TEXT}. Ladon's process (ladon_peer.cpp) knows three more, and they
may come before a case:

    {"do": "peak"}                             {"gflops", "quiet"}: the ceiling, of independent multiply-adds in
                                               registers, and whether the core is ours alone (support/undisturbed.hpp)
    {"do": "quiet", "seconds"}                 {"quiet"}: waits for that, no longer than so long; whether it came
    {"do": "ids", "vocabulary": FILE, "text"}  {"ids"}: the whole text's tokens
"""

import gc

import numpy as np

from ladon_bench.minilm.model import Weights
from ladon_bench.peers.protocol import Contestant, answer_lines


class Case:
    def __init__(self, request):
        self.weights = Weights(request["model"])
        self.together, self.precision = request["together"], request["precision"]
        lengths = [len(ids) for ids in request["sentences"]]
        self.same_length = len(set(lengths)) == 1
        self.calls = [np.array([ids]) for ids in request["sentences"]]  # ids [batch][tokens], of every call
        self.mask = None
        if self.together:
            padded = [ids + [0] * (max(lengths) - len(ids)) for ids in request["sentences"]]
            self.calls = [np.array(padded)]
            self.mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
        # The sizes that all calls have, or None.
        self.batch = self.calls[0].shape[0]
        self.tokens = self.calls[0].shape[1] if self.together or self.same_length else None


def serve(name, versions, forms, build):
    """Answers the driver for one library.

    `forms` maps each precision that the library has to names. build(case, form) returns a function that computes the
    vectors [batch][384] of case.calls, a list.
    """
    case, built = None, {}

    def do(request):
        nonlocal case
        what, form = request["do"], request.get("form")
        if what == "case":
            case = Case(request)
            if case.precision not in forms:
                raise ValueError(f"{name} has no form of {case.precision} here")
            return {"name": name, "versions": versions, "forms": forms[case.precision]}
        if what == "build":
            compute = build(case, form)
            vectors = np.concatenate([np.array(part) for part in compute()])
            vectors.astype("float32").tofile(request["output"])
            built[form] = Contestant(compute, None)
            return {}
        if what == "round":
            return built[form].round(request["seconds"])
        if what == "drop":
            built.pop(form, None)
            gc.collect()
            return {}
        raise ValueError(f"what is {what}?")

    answer_lines(do)
