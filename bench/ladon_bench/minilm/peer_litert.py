"""Runs MiniLM in LiteRT (TensorFlow Lite), which uses the kernels of XNNPACK. The queries, keys and values have one
projection or three. For int8, the weights of linear layers have a scale for each output, and XNNPACK quantises inputs
at run time."""

import importlib.metadata

import numpy as np

from ladon_bench.minilm.model import EPSILON, HEADS, MODEL
from ladon_bench.minilm.serving import serve
from ladon_bench.peers.litert import Graph, Operator, interpreter_of, schema

ONE, THREE = "one projection", "three projections"


class MiniLM(Graph):
    """The model for texts of equal length. Activations are [texts * tokens][model]. The inputs are the ids, [texts]
    [tokens], the positions of the tokens, 0, 1, ..., and the padding mask, only if sentences are padded."""

    def __init__(self, case):
        super().__init__(int8=case.precision == "int8")
        self.weights, self.masked = case.weights, case.together
        self.batch, self.tokens = case.calls[0].shape

    def rows(self, name, table, indices):
        return self.op(Operator.GATHER, [self.constant(name, table), indices], [*self.shape(indices), MODEL],
                       options=schema.GatherOptionsT(axis=0))

    def embedded(self, ids, positions):
        word, place = self.rows("word", self.weights.word, ids), self.rows("place", self.weights.place, positions)
        x = self.reshape(self.add(word, place), -1, MODEL)
        return self.norm(x, "embedding_norm", *self.weights.embedding_norm, EPSILON)

    def query_key_value(self, x, name, layer, form):
        parts = [layer[part] for part in ("query", "key", "value")]
        if form == ONE:
            weight, bias = (np.concatenate(arrays) for arrays in zip(*parts))
            return self.split(self.linear(x, f"{name}in", weight, bias), 3)
        return [self.linear(x, f"{name}in{i}", *part) for i, part in enumerate(parts)]

    def layer(self, x, i, layer, form, hidden):
        name = f"layer{i}_"
        norm = lambda x, part: self.norm(x, name + part, *layer[part], EPSILON)
        linear = lambda x, part: self.linear(x, name + part, *layer[part])
        texts = self.batch if self.masked else None
        y = self.attention(*self.query_key_value(x, name, layer, form), HEADS, hidden, texts)
        x = norm(self.add(x, linear(y, "output")), "norm1")
        inner = linear(x, "linear1")
        active = self.op(Operator.GELU, [inner], self.shape(inner), options=schema.GeluOptionsT(approximate=False))
        return norm(self.add(x, linear(active, "linear2")), "norm2")

    def masks(self, mask):
        """Returns two tensors made of the padding mask: the addend of the scores, and the factor of the rows before
        pooling."""
        kinds = schema.TensorType
        options = schema.CastOptionsT(inDataType=kinds.INT32, outDataType=kinds.FLOAT32)
        shown = self.op(Operator.CAST, [mask], self.shape(mask), options=options)
        hidden = self.multiply(self.subtract(self.number(1.0), shown), self.number(-10000.0))
        return self.reshape(hidden, self.batch, 1, 1, -1), self.reshape(shown, self.batch, -1, 1)

    def pooled(self, x, shown):
        """Divides the sum over the tokens by the length of the sum. The mean over the tokens would give the same
        vector."""
        texts = self.reshape(x, self.batch, -1, MODEL)
        if shown is not None:
            texts = self.multiply(texts, shown)
        total = self.reduce(Operator.SUM, texts, 1, keep=False)
        return self.op(Operator.L2_NORMALIZATION, [total], self.shape(total), options=schema.L2NormOptionsT())

    def file(self, form):
        """Returns the bytes of the file."""
        texts = [self.batch, self.tokens]
        inputs = [self.tensor(shape, np.int32) for shape in (texts, texts[1:], *([texts] if self.masked else []))]
        hidden, shown = self.masks(inputs[2]) if self.masked else (None, None)
        x = self.embedded(*inputs[:2])
        for i, layer in enumerate(self.weights.layers):
            x = self.layer(x, i, layer, form, hidden)
        return self.content(inputs, [self.pooled(x, shown)])


def build(case, form):
    interpreter = interpreter_of(MiniLM(case).file(form), threads=1)
    inputs = [about["index"] for about in interpreter.get_input_details()]
    output = interpreter.get_output_details()[0]["index"]
    shape = case.calls[0].shape

    def call(arrays):
        nonlocal shape
        if arrays[0].shape != shape:  # not in every call, because a change of the sizes takes 0.2 ms
            shape = arrays[0].shape
            for index, array in zip(inputs, arrays):
                interpreter.resize_tensor_input(index, array.shape)
            interpreter.allocate_tensors()
        for index, array in zip(inputs, arrays):
            interpreter.set_tensor(index, array)
        interpreter.invoke()
        return interpreter.get_tensor(output)

    mask = [case.mask] if case.together else []
    feeds = [[array.astype(np.int32) for array in (ids, np.arange(ids.shape[1]), *mask)] for ids in case.calls]
    return lambda: [call(feed) for feed in feeds]


serve("LiteRT", {"ai-edge-litert": importlib.metadata.version("ai-edge-litert")},
      {"float32": [ONE, THREE], "int8": [ONE, THREE]}, build)
