"""Runs MiniLM in ONNX Runtime. The forms are the plain graph, which either the runtime or its Python optimizer fuses,
and graphs with attention operators and the matching residuals, norms and activations. For int8, the weights of linear
layers have a scale for each output, and inputs are quantised at run time (quantize_dynamic)."""

import logging

import onnx
import onnxruntime
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions

from ladon_bench.minilm.graph import CONTRIB_ATTENTION, CONTRIB_MULTI_HEAD, PLAIN, STANDARD, Graph
from ladon_bench.minilm.model import HEADS, MODEL
from ladon_bench.minilm.serving import serve
from ladon_bench.peers import onnx_sessions

OPTIMIZED = "onnxruntime.transformers.optimizer"
QUANTISED = {f"{form}, {onnx_sessions.QUANTISED}": form for form in (CONTRIB_ATTENTION, CONTRIB_MULTI_HEAD, PLAIN)}


def optimized(model):
    options = FusionOptions("bert")
    options.enable_gelu_approximation = False  # the model's GELU is exact (erf)
    return optimizer.optimize_model(model, "bert", HEADS, MODEL, options, opt_level=0, use_gpu=False).model


def build(case, form):
    graph = PLAIN if form == OPTIMIZED else QUANTISED.get(form, form)
    model = Graph(case.weights, graph, case.batch, case.tokens, case.together).model()
    if form == OPTIMIZED:
        model = optimized(model)
    if form in QUANTISED:
        model = onnx_sessions.quantised(model)
    session = onnx_sessions.session_of(model, threads=1)
    feeds = [{"ids": ids} for ids in case.calls]
    if case.together:
        feeds[0]["mask"] = case.mask
    return lambda: [session.run(["out"], feed)[0] for feed in feeds]


logging.disable(logging.WARNING)
serve("ONNX Runtime", {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__},
      {"float32": [CONTRIB_ATTENTION, CONTRIB_MULTI_HEAD, STANDARD, PLAIN, OPTIMIZED], "int8": list(QUANTISED)}, build)
