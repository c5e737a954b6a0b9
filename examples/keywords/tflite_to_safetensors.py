"""tflite_to_safetensors.py TFLITE_FILE SAFETENSORS_FILE: writes the weights of KWT-1 with PyTorch's tensor names.

The sizes of the model: 40 features, 64 numbers a token, 99 tokens, 256 numbers in the feed-forward network, 12 layers,
12 labels. LiteRT stores the weights of a linear layer as (out, in), which is PyTorch's order, so nothing is transposed.
The front end is not converted, because its constants are formulas. Needs the packages of requirements.txt.
"""

import sys

import numpy as np
import tflite
from safetensors.numpy import save_file

LAYERS = 12
# Maps the name of a tensor in the safetensors file to its shape, and to the names of one or more tensors in the tflite
# file. Several tensors are concatenated along the first axis.
ONCE = {
    "class_token": ((64,), ["class_emb"]),
    "position": ((99, 64), ["pos_emb"]),
    "embed.weight": ((64, 40), ["kws_transformer/dense/Tensordot/MatMul"]),
    "embed.bias": ((64,), ["kws_transformer/dense/bias"]),
    "head.weight": ((12, 64), ["sequential_12/dense_73/MatMul"]),
    "head.bias": ((12,), ["sequential_12/dense_73/bias"]),
}
# Maps the tensors of each encoder layer, in the form of ONCE. The names on the left follow "layers.I." for layer I, and
# the names on the right follow the name of the layer's block. Keras numbers the dense maps through the whole model from
# 0, and omits the 0: `dense` is the embedding, dense_1 to dense_6 belong to encoder layer 0, and dense_7 to dense_12
# belong to encoder layer 1.
EACH_LAYER = {
    "self_attn.in_proj_weight": ((192, 64), ["{attention}/{dense1}/Tensordot/MatMul",    # queries
                                             "{attention}/{dense2}/Tensordot/MatMul",    # keys
                                             "{attention}/{dense3}/Tensordot/MatMul"]),  # values
    "self_attn.out_proj.weight": ((64, 64), ["{attention}/{dense4}/Tensordot/MatMul"]),
    "self_attn.out_proj.bias": ((64,), ["{attention}/{dense4}/bias"]),
    "linear1.weight": ((256, 64), ["{feed_forward}/{dense5}/Tensordot/MatMul"]),
    "linear1.bias": ((256,), ["{feed_forward}/{dense5}/bias"]),
    "linear2.weight": ((64, 256), ["{feed_forward}/{dense6}/Tensordot/MatMul"]),
    "linear2.bias": ((64,), ["{feed_forward}/{dense6}/bias"]),
    "norm1.weight": ((64,), ["{norm1}/gamma"]),
    "norm1.bias": ((64,), ["{norm1}/beta"]),
    "norm2.weight": ((64,), ["{norm2}/gamma"]),
    "norm2.bias": ((64,), ["{norm2}/beta"]),
}


def numbered(name, number):
    return f"{name}_{number}" if number else name


def parts_of_layer(layer):
    """Returns the values of the placeholders in EACH_LAYER."""
    dense = {f"dense{i}": numbered("dense", 6 * layer + i) for i in range(1, 7)}
    norms = {f"norm{i}": numbered("layer_normalization", 2 * layer + i - 1) for i in (1, 2)}
    return {"attention": numbered("multi_head_self_attention", layer), "feed_forward": numbered("sequential", layer),
            **dense, **norms}


def sources():
    """Returns {name in the safetensors file: (shape, names in the tflite file)} of all tensors."""
    found = dict(ONCE)
    for layer in range(LAYERS):
        block, parts = numbered("kws_transformer/transformer_block", layer), parts_of_layer(layer)
        for name, (shape, theirs) in EACH_LAYER.items():
            found[f"layers.{layer}.{name}"] = shape, [f"{block}/{each.format(**parts)}" for each in theirs]
    return found


def constants(model):
    """Returns {name: array} of the float32 constants of the model."""
    graph, found = model.Subgraphs(0), {}
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        buffer = model.Buffers(tensor.Buffer())
        if tensor.Type() == tflite.TensorType.FLOAT32 and buffer.DataLength() > 0:
            shape = tensor.ShapeAsNumpy() if tensor.ShapeLength() > 0 else ()
            found[tensor.Name().decode()] = buffer.DataAsNumpy().view("<f4").reshape(shape)
    return found


def converted(found):
    """Returns {name in the safetensors file: array} from the constants. Leading dimensions of 1 are dropped."""
    tensors = {}
    for name, (shape, theirs) in sources().items():
        array = np.concatenate([found[each] for each in theirs])
        while len(array.shape) > len(shape) and array.shape[0] == 1:
            array = array[0]
        if array.shape != shape:
            raise ValueError(f"{name} has the shape {array.shape}, not {shape}")
        tensors[name] = np.ascontiguousarray(array)
    return tensors


def main(source, target):
    with open(source, "rb") as file:
        model = tflite.Model.GetRootAs(file.read(), 0)
    save_file(converted(constants(model)), target)


if __name__ == "__main__":
    main(*sys.argv[1:])
