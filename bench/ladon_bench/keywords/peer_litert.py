"""Runs the published tflite file in LiteRT (TensorFlow Lite), which uses the kernels of XNNPACK, with both programming
interfaces. tflite_files converts the file."""

import importlib.metadata

import numpy as np
from ai_edge_litert.compiled_model import CompiledModel, CpuOptions, Options

from ladon_bench.keywords.model import LABELS
from ladon_bench.keywords.serving import FLOAT32, INT8, INT8_EVERYWHERE, serve
from ladon_bench.keywords.tflite_files import tflite_of
from ladon_bench.peers.litert import interpreter_of

FORMS = ["Interpreter", "CompiledModel"]


def by_interpreter(content):
    interpreter = interpreter_of(content, threads=1)
    details, output = interpreter.get_input_details()[0], interpreter.get_output_details()[0]["index"]

    def logits(x):
        interpreter.set_tensor(details["index"], x)
        interpreter.invoke()
        return interpreter.get_tensor(output)

    return logits, details["shape"]


def by_compiled_model(content):
    model = CompiledModel.from_buffer(content, options=Options(cpu_options=CpuOptions(num_threads=1)))
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)

    def logits(x):
        inputs[0].write(x)
        model.run_by_index(0, inputs, outputs)
        return outputs[0].read(len(LABELS), np.float32).reshape(1, -1)

    return logits, [-1]


def build(case, form):
    with open(case.tflite, "rb") as file:
        content = tflite_of(file.read(), case.part, case.precision)
    logits, shape = (by_interpreter if form == FORMS[0] else by_compiled_model)(content)
    windows = [np.ascontiguousarray(window.reshape(shape)) for window in case.inputs]
    return lambda: [logits(window) for window in windows]


versions = {name: importlib.metadata.version(name) for name in ("ai-edge-litert", "ai-edge-quantizer")}
serve("LiteRT", versions, {FLOAT32: FORMS, INT8: FORMS, INT8_EVERYWHERE: FORMS}, build)
