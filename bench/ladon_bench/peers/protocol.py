"""The protocol of a peer's process, which reads requests from its standard input and writes answers to its standard
output. Each request and each answer is a line of JSON. An answer is indented below:

    {"do": "case", "kind", "tokens", "model", "heads", "mask", "threads", "precision", "numbers": FILE, "places": {...}}
                                                         the first request, once
        {"name", "versions", "forms": [...], "chains"}   forms: ways to compute the case, of which the fastest counts;
                                                         chains: true if a call has overhead, so that the driver also
                                                         measures calls with several layers in short cases
    {"do": "build", "form", "layers", "output": FILE}    builds `layers` layers in one call, calls once, and writes the
        {}                                               result, float32
    {"do": "round", "form", "layers", "seconds"}         calls repeatedly, for about `seconds`
        {"seconds", "interrupted"}                       the time of one call; whether another process took a core
    {"do": "drop", "form"}                               the form is not needed any more
        {}

The answer to a failed request is {"error": TEXT}. Peers in C++ use serve.hpp instead of this file. Ladon's process
(ladon_peer.cpp) has two more requests:

    {"do": "peak"}               {"gflops", "quiet"}: the peak of independent multiply-adds in registers, and whether
                                 the cores are undisturbed (support/undisturbed.hpp)
    {"do": "quiet", "seconds"}   {"quiet"}: waits at most `seconds` until the cores are undisturbed; returns whether
                                 the cores are undisturbed
"""

import gc
import json
import math
import os
import resource
import sys
import time

from ladon_bench.peers.cases import Case, read_numbers


class Contestant:
    """A built form. call() computes and waits for the result. result() returns the result as an array."""

    def __init__(self, call, result):
        self.call, self.result = call, result
        self.call()  # maps the pages, and compiles lazily compiled code
        self.estimate = self.time(1)

    def time(self, repeats):
        call = self.call
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - start) / repeats

    def round(self, seconds):
        calls = seconds / max(self.estimate, 1e-7)
        self.time(math.ceil(calls / 10))  # not measured, because other processes have used the caches
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        self.estimate = self.time(max(1, round(calls)))
        return {"seconds": self.estimate,
                "interrupted": resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw != before}


def answer_lines(do):
    """Answers each line of the standard input. do(request) returns the answer."""
    # Libraries may print to stdout, so stdout is redirected to stderr, and answers use a copy of stdout.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gc.disable()
    for line in sys.stdin:
        try:
            answer = do(json.loads(line))
        except Exception as error:  # the driver reports the error and continues without this form
            answer = {"error": f"{type(error).__name__}: {error}".strip()[:1000]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def forms_of(name, forms, case):
    """Returns the forms for the precision of the case."""
    if case.precision not in forms:
        raise ValueError(f"{name} has no form of {case.precision} here")
    return forms[case.precision]


def serve(name, versions, forms, build):
    """Answers the driver for one library.

    `forms` has the names of the forms for each precision that the library supports. build(case, numbers, form, layers)
    returns the two functions that the constructor of Contestant takes: call and result.
    """
    case = numbers = None
    built = {}

    def do(request):
        nonlocal case, numbers
        what, form, layers = request["do"], request.get("form"), request.get("layers")
        if what == "case":
            case = Case(*(request[key] for key in ("kind", "tokens", "model", "heads", "mask", "threads", "precision")))
            numbers = read_numbers(request["numbers"], request["places"])
            return {"name": name, "versions": versions, "forms": forms_of(name, forms, case), "chains": True}
        if what == "build":
            built[form, layers] = Contestant(*build(case, numbers, form, layers))
            output = built[form, layers].result()
            output.reshape(case.tokens, case.model).astype("float32").tofile(request["output"])
            return {}
        if what == "round":
            return built[form, layers].round(request["seconds"])
        if what == "drop":
            for key in [key for key in built if key[0] == form]:
                del built[key]
            gc.collect()
            return {}
        raise ValueError(f"what is {what}?")

    answer_lines(do)


def score_scale(case):
    return 1 / math.sqrt(case.head_width)
