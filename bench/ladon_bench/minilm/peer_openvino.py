"""Runs MiniLM in OpenVINO, which reads the plain ONNX graph or the graph with ONNX's attention operator. For int8, nncf
quantises the plain graph. Either nncf quantises weights and inputs, with scales from the sentences of the case. Or nncf
quantises only the weights, and OpenVINO quantises inputs at run time in groups of 32."""

import importlib.metadata
import importlib.util
import logging

import openvino

from ladon_bench.minilm.graph import PLAIN, STANDARD, Graph
from ladon_bench.minilm.serving import serve


STATIC, DYNAMIC = "nncf.quantize", "nncf.compress_weights, dynamic groups"


HAS_NNCF = importlib.util.find_spec("nncf") is not None  # only int8 needs nncf


def quantised(model, form, feeds):
    import nncf

    logging.getLogger("nncf").setLevel(logging.ERROR)
    if form == DYNAMIC:
        return nncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT8_SYM)
    return nncf.quantize(model, nncf.Dataset(feeds), model_type=nncf.ModelType.TRANSFORMER,
                         preset=nncf.QuantizationPreset.MIXED)


def build(case, form):
    graph = PLAIN if form in (STATIC, DYNAMIC) else form
    model = Graph(case.weights, graph, case.batch, case.tokens, case.together).model()
    core = openvino.Core()
    # The default precision is bfloat16 on processors with bfloat16 products.
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1,
                "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}
    feeds = [[ids, case.mask] if case.together else [ids] for ids in case.calls]
    network = core.read_model(model.SerializeToString())
    if form in (STATIC, DYNAMIC):
        network = quantised(network, form, feeds)
    if form == DYNAMIC:
        settings["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = "32"
    compiled = core.compile_model(network, "CPU", settings)
    request = compiled.create_infer_request()
    inputs = [[openvino.Tensor(array, shared_memory=True) for array in feed] for feed in feeds]

    def call(tensors):
        for i, tensor in enumerate(tensors):
            request.set_input_tensor(i, tensor)
        request.infer()
        return request.get_output_tensor().data.copy()

    return lambda: [call(tensors) for tensors in inputs]


versions, forms = {"openvino": openvino.__version__.split("-")[0]}, {"float32": [PLAIN, STANDARD]}
if HAS_NNCF:
    versions["nncf"] = importlib.metadata.version("nncf")
    forms["int8"] = [STATIC, DYNAMIC]
serve("OpenVINO", versions, forms, build)
