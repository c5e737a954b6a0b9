"""Runs MiniLM in ONNX Runtime. The forms are the plain graph, which either the runtime or its Python optimizer fuses,
and graphs with attention operators and the matching residuals, norms and activations. For int8, the weights of linear
layers have a scale for each output, and inputs are quantised at run time (quantize_dynamic)."""

import logging
import pathlib
import tempfile

import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions

from ladon_bench.minilm.graph import CONTRIB_ATTENTION, CONTRIB_MULTI_HEAD, PLAIN, STANDARD, Graph
from ladon_bench.minilm.model import HEADS, MODEL
from ladon_bench.minilm.serving import serve

OPTIMIZED = "onnxruntime.transformers.optimizer"
QUANTISED = {f"{form}, quantize_dynamic": form for form in (CONTRIB_ATTENTION, CONTRIB_MULTI_HEAD, PLAIN)}


def optimized(model):
    options = FusionOptions("bert")
    options.enable_gelu_approximation = False  # the model's GELU is exact (erf)
    return optimizer.optimize_model(model, "bert", HEADS, MODEL, options, opt_level=0, use_gpu=False).model


def quantised(model):
    """Returns the model with int8 weights. Products of two activations stay in float32. DefaultTensorType is needed for
    types that ONNX cannot infer, such as the types of com.microsoft.Attention."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "int8.onnx"
        quantize_dynamic(model, path, per_channel=True, weight_type=QuantType.QInt8,
                         extra_options={"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT})
        return onnx.load(path)


def build(case, form):
    graph = PLAIN if form == OPTIMIZED else QUANTISED.get(form, form)
    model = Graph(case.weights, graph, case.batch, case.tokens, case.together).model()
    if form == OPTIMIZED:
        model = optimized(model)
    if form in QUANTISED:
        model = quantised(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = [{"ids": ids} for ids in case.calls]
    if case.together:
        feeds[0]["mask"] = case.mask
    return lambda: [session.run(["out"], feed)[0] for feed in feeds]


logging.disable(logging.WARNING)
serve("ONNX Runtime", {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__},
      {"float32": [CONTRIB_ATTENTION, CONTRIB_MULTI_HEAD, STANDARD, PLAIN, OPTIMIZED], "int8": list(QUANTISED)}, build)
