"""The protocol of a peer that computes a whole model. The peer's process reads requests from its standard input, and
writes answers to its standard output. Each request and each answer is a line of JSON. An answer is indented below:

    {"do": "case", ...}                        the first request, once; minilm/serving.py and keywords/serving.py
                                               describe the other members
        {"name", "versions", "forms": [...]}   forms: ways to compute the model, of which the fastest counts
    {"do": "build", "form", "output": FILE}    computes all calls of the case, and writes the results, float32
        {}
    {"do": "round", "form", "seconds"}         computes all calls repeatedly, for about `seconds`
        {"seconds", "interrupted"}             the time of all calls once; whether another process took the core
    {"do": "drop", "form"}                     the form is not needed any more
        {}

The answer to a failed request is {"error": TEXT}. Ladon's processes have two more requests, which may come before a
case:

    {"do": "peak"}                             {"gflops", "quiet"}: the peak of independent multiply-adds in registers,
                                               and whether the core is undisturbed (support/undisturbed.hpp)
    {"do": "quiet", "seconds"}                 {"quiet"}: waits at most `seconds` until the core is undisturbed; returns
                                               whether the core is undisturbed
"""

import gc

import numpy as np

from ladon_bench.peers.protocol import Contestant, answer_lines, forms_of


def serve_model(name, versions, forms, build, new_case):
    """Answers the driver for one library.

    new_case(request) returns a case with a `precision`. `forms` has the names of the forms for each precision that the
    library supports. build(case, form) returns a function that returns a list: the results of the calls of the case.
    """
    case, built = None, {}

    def do(request):
        nonlocal case
        what, form = request["do"], request.get("form")
        if what == "case":
            case = new_case(request)
            return {"name": name, "versions": versions, "forms": forms_of(name, forms, case)}
        if what == "build":
            compute = build(case, form)
            results = np.concatenate([np.array(part) for part in compute()])
            results.astype("float32").tofile(request["output"])
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
