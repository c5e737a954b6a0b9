"""Runs MiniLM in OpenVINO, which reads the plain ONNX graph or the graph with ONNX's attention operator. For int8, nncf
quantises the plain graph in three ways (../peers/openvino_models.py), with scales from the sentences of the case. What
is not quantised has float32 numbers, or bfloat16 numbers, which are faster on some processors."""

import openvino

from ladon_bench.minilm.graph import PLAIN, STANDARD, Graph
from ladon_bench.minilm.serving import serve
from ladon_bench.peers.openvino_models import DYNAMIC, HAS_NNCF, STATIC, SYMMETRIC, compiled, versions

WITH_BFLOAT16 = ", bfloat16"
QUANTISED = [way + rest for way in (STATIC, SYMMETRIC, DYNAMIC) for rest in ("", WITH_BFLOAT16)]


def build(case, form):
    graph = PLAIN if form in QUANTISED else form
    model = Graph(case.weights, graph, case.batch, case.tokens, case.together).model()
    feeds = [[ids, case.mask] if case.together else [ids] for ids in case.calls]
    network = openvino.Core().read_model(model.SerializeToString())
    way = form.removesuffix(WITH_BFLOAT16) if form in QUANTISED else None
    hint = "bf16" if case.precision == "bfloat16" or form.endswith(WITH_BFLOAT16) else "f32"
    request = compiled(network, threads=1, way=way, feeds=feeds, hint=hint).create_infer_request()
    inputs = [[openvino.Tensor(array, shared_memory=True) for array in feed] for feed in feeds]

    def call(tensors):
        for i, tensor in enumerate(tensors):
            request.set_input_tensor(i, tensor)
        request.infer()
        return request.get_output_tensor().data.copy()

    return lambda: [call(tensors) for tensors in inputs]


serve("OpenVINO", versions(), {**dict.fromkeys(["float32", "bfloat16"], [PLAIN, STANDARD]),
                               **({"int8": QUANTISED} if HAS_NNCF else {})}, build)
