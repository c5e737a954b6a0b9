"""Reads the weights of all-MiniLM-L6-v2, computes vectors in float64, and counts the needed flops."""

import json
import math
import pathlib

import numpy as np

LAYERS, HEADS, MODEL, FEED_FORWARD = 6, 12, 384, 1536
HEAD_WIDTH = MODEL // HEADS
EPSILON = 1e-12  # of layer normalisation

_LAYER = "encoder.layer.{}."
NAMES = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
         "output": "attention.output.dense", "norm1": "attention.output.LayerNorm", "linear1": "intermediate.dense",
         "linear2": "output.dense", "norm2": "output.LayerNorm"}  # names in this package, and names in the file


def read(path):
    """Returns all F32 tensors of a safetensors file by name. The tensors are views of the mapped file."""
    everything = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int(everything[:8].view("<u8")[0])
    tensors = {}
    for name, about in json.loads(bytes(everything[8:start])).items():
        if about.get("dtype") == "F32":
            first, last = about["data_offsets"]
            tensors[name] = everything[start + first:start + last].view("<f4").reshape(about["shape"])
    return tensors


class Weights:
    """The weights by the names in this package: the embeddings, and for each layer the linear maps (out, in) and the
    norms. Each linear map and each norm is a pair of weight and bias."""

    def __init__(self, path):
        tensors = read(pathlib.Path(path))
        pair = lambda name: (tensors[name + ".weight"], tensors[name + ".bias"])
        self.word = tensors["embeddings.word_embeddings.weight"]
        first_sentence = tensors["embeddings.token_type_embeddings.weight"][0]
        self.place = tensors["embeddings.position_embeddings.weight"] + first_sentence
        self.embedding_norm = pair("embeddings.LayerNorm")
        self.layers = [{ours: pair(_LAYER.format(i) + theirs) for ours, theirs in NAMES.items()} for i in range(LAYERS)]


def flops(tokens):
    """Returns the flops of the layers for one sentence, two for each multiply-add: projections and feed-forward
    networks, and pairs of tokens."""
    return LAYERS * (24 * tokens * MODEL**2 + 4 * tokens**2 * MODEL)


_erf = np.vectorize(math.erf, otypes=[np.float64])


def expected(weights, ids):
    """Returns the unit vector of one sentence, in float64."""
    double = lambda pair: [part.astype(np.float64) for part in pair]

    def norm(x, pair):
        weight, bias = double(pair)
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON) * weight + bias

    def linear(x, pair):
        weight, bias = double(pair)
        return x @ weight.T + bias

    def heads(x):
        return x.reshape(len(ids), HEADS, HEAD_WIDTH).transpose(1, 0, 2)

    x = norm(weights.word[ids].astype(np.float64) + weights.place[:len(ids)], weights.embedding_norm)
    for layer in weights.layers:
        q, k, v = (heads(linear(x, layer[name])) for name in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(HEAD_WIDTH)
        weighed = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weighed /= weighed.sum(axis=-1, keepdims=True)
        x = norm(x + linear((weighed @ v).transpose(1, 0, 2).reshape(len(ids), MODEL), layer["output"]), layer["norm1"])
        hidden = linear(x, layer["linear1"])
        hidden *= 0.5 * (1 + _erf(hidden / math.sqrt(2)))
        x = norm(x + linear(hidden, layer["linear2"]), layer["norm2"])
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)
