"""A peer that computes a whole model: what its process hears on its standard input and answers on its standard output,
a line of JSON each.

    {"do": "case", ...}                        the first, once. minilm and keywords say what else is in it
        {"name", "versions", "forms": [...]}   forms: ways to compute the model, of which the fastest will count
    {"do": "build", "form", "output": FILE}    the file has the results of the case's calls, float32
        {}
    {"do": "round", "form", "seconds"}         makes all calls, again and again, for about so long
        {"seconds", "interrupted"}             of all calls once; whether another process took the core meanwhile
    {"do": "drop", "form"}                     will not be asked for again
        {}

What goes wrong is answered by {"error": TEXT}. Ladon's processes know two more, and they may come before a case:

    {"do": "peak"}                             {"gflops", "quiet"}: the ceiling, of independent multiply-adds in
                                               registers, and whether the core is ours alone (support/undisturbed.hpp)
    {"do": "quiet", "seconds"}                 {"quiet"}: waits for that, no longer than so long; whether it came
"""

import gc

import numpy as np

from ladon_bench.peers.protocol import Contestant, answer_lines


def serve_model(name, versions, forms, build, new_case):
    """Answers the driver for one library.

    new_case(request) returns a case with a `precision`. `forms` maps each precision that the library has to names of
    forms. build(case, form) returns a function that returns the results of the case's calls, a list.
    """
    case, built = None, {}

    def do(request):
        nonlocal case
        what, form = request["do"], request.get("form")
        if what == "case":
            case = new_case(request)
            if case.precision not in forms:
                raise ValueError(f"{name} has no form of {case.precision} here")
            return {"name": name, "versions": versions, "forms": forms[case.precision]}
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
