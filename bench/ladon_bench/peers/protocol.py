"""What a peer's process hears on its standard input and answers on its standard output: a line of JSON each.

    {"do": "case", "kind", "tokens", "model", "heads", "mask", "threads", "numbers": FILE, "places": {...}}
        the first request, once
        {"name", "versions", "forms": [...], "chains"}   forms: ways to compute it, of which the fastest will count;
                                                         chains: a call costs something, so several layers in one
                                                         will be asked for where that shows
    {"do": "build", "form", "layers", "output": FILE}   so many layers in one call; it is called once
        {}                                              and the file has what came out, float32
    {"do": "round", "form", "layers", "seconds"}        calls for about so long
        {"seconds", "interrupted"}                      of one call; whether another process took a core meanwhile
    {"do": "drop", "form"}                              will not be asked for again
        {}

What goes wrong is answered by {"error": TEXT}. Peers in C++ have serve.hpp instead of this file. Ladon's process
(ladon_peer.cpp) knows two more:

    {"do": "peak"}               {"gflops", "quiet"}: the ceiling, of independent multiply-adds in registers, and
                                 whether the cores are ours alone (support/undisturbed.hpp)
    {"do": "quiet", "seconds"}   {"quiet"}: waits for that, no longer than so long; whether it came
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
    """A form built: call() computes until the result is there, result() gives it as an array."""

    def __init__(self, call, result):
        self.call, self.result = call, result
        self.call()  # pages are there, what compiles late is compiled
        self.estimate = self.time(1)

    def time(self, repeats):
        call = self.call
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - start) / repeats

    def round(self, seconds):
        calls = seconds / max(self.estimate, 1e-7)
        self.time(math.ceil(calls / 10))  # others have had the caches: a tenth is not counted
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        self.estimate = self.time(max(1, round(calls)))
        return {"seconds": self.estimate,
                "interrupted": resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw != before}


def answer_lines(do):
    """do(request) gives the answer to each line that comes, until none comes any more."""
    # Libraries print, too: what they say goes where errors go.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gc.disable()
    for line in sys.stdin:
        try:
            answer = do(json.loads(line))
        except Exception as error:  # any of a library's: the driver says so and goes on without this form
            answer = {"error": f"{type(error).__name__}: {error}".strip()[:1000]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def serve(name, versions, forms, build):
    """forms(case) gives names; build(case, numbers, form, layers) gives a pair of functions, see Contestant."""
    case = numbers = None
    built = {}

    def do(request):
        nonlocal case, numbers
        what, form, layers = request["do"], request.get("form"), request.get("layers")
        if what == "case":
            case = Case(*(request[key] for key in ("kind", "tokens", "model", "heads", "mask", "threads")))
            numbers = read_numbers(request["numbers"], request["places"])
            return {"name": name, "versions": versions, "forms": forms(case), "chains": True}
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
