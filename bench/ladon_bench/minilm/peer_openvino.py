"""OpenVINO: the plain graph, or that with ONNX's operator of attention, read from ONNX."""

import openvino

from ladon_bench.minilm.graph import PLAIN, STANDARD, Graph
from ladon_bench.minilm.serving import serve


def build(case, form):
    model = Graph(case.weights, form, case.batch, case.tokens, case.together).model()
    core = openvino.Core()
    # Its default is bfloat16 where a processor multiplies that.
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1,
                "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", settings)
    request = compiled.create_infer_request()
    feeds = [[ids, case.mask] if case.together else [ids] for ids in case.calls]
    inputs = [[openvino.Tensor(array, shared_memory=True) for array in feed] for feed in feeds]

    def call(tensors):
        for i, tensor in enumerate(tensors):
            request.set_input_tensor(i, tensor)
        request.infer()
        return request.get_output_tensor().data.copy()

    return lambda: [call(tensors) for tensors in inputs]


serve("OpenVINO", {"openvino": openvino.__version__.split("-")[0]}, [PLAIN, STANDARD], build)
