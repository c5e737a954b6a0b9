"""Runs the published tflite file in LiteRT (TensorFlow Lite), which uses the kernels of XNNPACK, with both programming
interfaces. For int8, ai-edge-quantizer converts the file: weights become int8, and inputs are quantised at run time.
For the part "model", the operators of the front end are removed from the file."""

import importlib.metadata

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.compiled_model import CompiledModel, CpuOptions, Options
from ai_edge_litert.interpreter import Interpreter
from ai_edge_quantizer import quantizer, recipe

from ladon_bench.keywords.model import LABELS
from ladon_bench.keywords.serving import FLOAT32, INT8, INT8_EVERYWHERE, MODEL, serve

EMBEDDING = b"kws_transformer/dense/Tensordot/MatMul"  # the weight of the first operator after the front end
BEHIND_THE_FRONT_END = "^(?!speech_features/)"  # matches operators by the names of their results
FORMS = ["Interpreter", "CompiledModel"]


def without_front_end(content):
    """Returns the tflite file without the front end. The input of the model is the features."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    reads_embedding = [any(graph.tensors[i].name == EMBEDDING for i in operator.inputs if i >= 0)
                       for operator in graph.operators]
    first = reads_embedding.index(True)
    graph.inputs = [graph.operators[first].inputs[0]]
    graph.operators = graph.operators[first:]
    builder = flatbuffers.Builder(len(content))
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def quantised(content, precision):
    if precision == FLOAT32:
        return content
    rules = recipe.dynamic_wi8_afp32()
    for rule in rules:
        rule["regex"] = ".*" if precision == INT8_EVERYWHERE else BEHIND_THE_FRONT_END
    return bytes(quantizer.Quantizer(content, rules).quantize().quantized_model)


def by_interpreter(content):
    interpreter = Interpreter(model_content=content, num_threads=1)
    interpreter.allocate_tensors()
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
        content = file.read()
    if case.part == MODEL:
        content = without_front_end(content)
    content = quantised(content, case.precision)
    logits, shape = (by_interpreter if form == FORMS[0] else by_compiled_model)(content)
    windows = [np.ascontiguousarray(window.reshape(shape)) for window in case.inputs]
    return lambda: [logits(window) for window in windows]


versions = {name: importlib.metadata.version(name) for name in ("ai-edge-litert", "ai-edge-quantizer")}
serve("LiteRT", versions, {FLOAT32: FORMS, INT8: FORMS, INT8_EVERYWHERE: FORMS}, build)
