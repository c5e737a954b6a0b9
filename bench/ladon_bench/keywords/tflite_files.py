"""tflite_files TFLITE_FILE FOLDER: writes PART.PRECISION.tflite, the forms of the published file that LiteRT.js runs.

For int8, ai-edge-quantizer converts the file: weights become int8, and inputs are quantised at run time. For the part
"model", the operators of the front end are removed from the file.
"""

import pathlib
import sys

from ai_edge_litert import schema_py_generated as schema
from ai_edge_quantizer import quantizer, recipe

from ladon_bench.keywords.serving import CHAIN, FLOAT32, INT8, INT8_EVERYWHERE, MODEL
from ladon_bench.peers.litert import packed

EMBEDDING = b"kws_transformer/dense/Tensordot/MatMul"  # the weight of the first operator after the front end
BEHIND_THE_FRONT_END = "^(?!speech_features/)"  # matches operators by the names of their results


def without_front_end(content):
    """Returns the tflite file without the front end. The input of the model is the features."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    reads_embedding = [any(graph.tensors[i].name == EMBEDDING for i in operator.inputs if i >= 0)
                       for operator in graph.operators]
    first = reads_embedding.index(True)
    graph.inputs = [graph.operators[first].inputs[0]]
    graph.operators = graph.operators[first:]
    return packed(model)


def quantised(content, precision):
    if precision == FLOAT32:
        return content
    rules = recipe.dynamic_wi8_afp32()
    for rule in rules:
        rule["regex"] = ".*" if precision == INT8_EVERYWHERE else BEHIND_THE_FRONT_END
    return bytes(quantizer.Quantizer(content, rules).quantize().quantized_model)


def tflite_of(content, part, precision):
    """Returns the tflite file of a part and a precision."""
    return quantised(without_front_end(content) if part == MODEL else content, precision)


def main(source, folder):
    content = pathlib.Path(source).read_bytes()
    for part in (CHAIN, MODEL):
        for precision in (FLOAT32, INT8):
            (pathlib.Path(folder) / f"{part}.{precision}.tflite").write_bytes(tflite_of(content, part, precision))


if __name__ == "__main__":
    main(*sys.argv[1:])
