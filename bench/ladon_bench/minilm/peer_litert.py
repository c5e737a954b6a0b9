"""Runs MiniLM in LiteRT (TensorFlow Lite), which uses the kernels of XNNPACK. The queries, keys and values have one
projection or three. For int8, the weights of linear layers have a scale for each output, and XNNPACK quantises inputs
at run time."""

import importlib.metadata

import numpy as np

from ladon_bench.minilm.model import EPSILON, HEADS
from ladon_bench.minilm.serving import serve
from ladon_bench.peers.litert import Graph, Operator, interpreter_of, schema

ONE, THREE = "one projection", "three projections"


class MiniLM(Graph):
    """The model for `batch` texts of `tokens` tokens each. Activations are [batch * tokens][model]."""

    def __init__(self, case, batch, tokens):
        super().__init__(int8=case.precision == "int8")
        self.weights, self.masked, self.batch, self.tokens = case.weights, case.together, batch, tokens

    def embedded(self, ids):
        word = self.constant("word", self.weights.word)
        texts = [self.batch, self.tokens, self.weights.word.shape[1]]
        found = self.op(Operator.GATHER, [word, ids], texts, options=schema.GatherOptionsT(axis=0))
        place = self.constant("place", self.weights.place[:self.tokens])
        rows = self.reshape(self.add(found, place), self.batch * self.tokens, texts[2])
        return self.norm(rows, "embedding_norm", *self.weights.embedding_norm, EPSILON)

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
        """Returns the addend of the scores, and the factor of the rows before pooling."""
        kinds = schema.TensorType
        options = schema.CastOptionsT(inDataType=kinds.INT32, outDataType=kinds.FLOAT32)
        shown = self.op(Operator.CAST, [mask], self.shape(mask), options=options)
        hidden = self.multiply(self.subtract(self.number(1.0), shown), self.number(-10000.0))
        return (self.reshape(hidden, self.batch, 1, 1, self.tokens),
                self.reshape(shown, self.batch, self.tokens, 1))

    def pooled(self, x, shown):
        """Divides the sum over the tokens by its length. The number of tokens cancels out."""
        texts = self.reshape(x, self.batch, self.tokens, self.shape(x)[1])
        if shown is not None:
            texts = self.multiply(texts, shown)
        total = self.reduce(Operator.SUM, texts, 1, keep=False)
        return self.op(Operator.L2_NORMALIZATION, [total], self.shape(total), options=schema.L2NormOptionsT())

    def file(self, form):
        """Returns the bytes of the file."""
        ids, *mask = inputs = [self.tensor([self.batch, self.tokens], np.int32) for _ in range(1 + self.masked)]
        hidden, shown = self.masks(*mask) if self.masked else (None, None)
        x = self.embedded(ids)
        for i, layer in enumerate(self.weights.layers):
            x = self.layer(x, i, layer, form, hidden)
        return self.content(inputs, [self.pooled(x, shown)])


def build(case, form):
    sizes = {ids.shape for ids in case.calls}
    interpreters = {size: interpreter_of(MiniLM(case, *size).file(form), threads=1) for size in sizes}

    def call(*arrays):
        interpreter = interpreters[arrays[0].shape]
        for about, array in zip(interpreter.get_input_details(), arrays):
            interpreter.set_tensor(about["index"], array)
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

    inputs = [[array.astype(np.int32) for array in ([ids, case.mask] if case.together else [ids])]
              for ids in case.calls]
    return lambda: [call(*arrays) for arrays in inputs]


serve("LiteRT", {"ai-edge-litert": importlib.metadata.version("ai-edge-litert")},
      {"float32": [ONE, THREE], "int8": [ONE, THREE]}, build)
