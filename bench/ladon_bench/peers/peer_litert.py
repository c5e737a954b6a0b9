"""Runs layers in LiteRT (TensorFlow Lite), which uses the kernels of XNNPACK: attention from operators of LiteRT. For
int8, weights have a scale for each output, and XNNPACK quantises inputs at run time."""

import importlib.metadata

import numpy as np

from ladon_bench.peers.cases import EPSILON
from ladon_bench.peers.litert import Graph, interpreter_of
from ladon_bench.peers.protocol import serve

ONE, THREE = "one projection", "three projections"


class Model(Graph):
    def __init__(self, case, numbers):
        super().__init__(int8=case.precision == "int8")
        self.case, self.numbers = case, numbers

    def linear_of(self, x, name, rows=slice(None), relu=False):
        weight, bias = self.numbers[f"{name}_weight"][rows], self.numbers[f"{name}_bias"][rows]
        return self.linear(x, f"{name} {rows}", weight, bias, relu)

    def norm_of(self, x, name):
        return self.norm(x, name, self.numbers[f"{name}_weight"], self.numbers[f"{name}_bias"], EPSILON)

    def query_key_value(self, x, form):
        width = self.case.model
        if form == ONE:
            return self.split(self.linear_of(x, "in_proj"), 3)
        return [self.linear_of(x, "in_proj", slice(i * width, (i + 1) * width)) for i in range(3)]

    def hidden(self):
        if not self.case.causal:
            return None
        # The lowest float is added to the score of a hidden key. With -infinity instead, LiteRT's softmax could compute
        # infinity minus infinity.
        lowest = np.finfo(np.float32).min
        return self.constant("hidden", np.where(np.tri(self.case.tokens, dtype=bool), np.float32(0), lowest)[None])

    def layer(self, x, form):
        y = self.attention(*self.query_key_value(x, form), self.case.heads, self.hidden())
        y = self.linear_of(y, "out_proj")
        if not self.case.encoder:
            return y
        x = self.norm_of(self.add(x, y), "norm1")
        return self.norm_of(self.add(x, self.linear_of(self.linear_of(x, "linear1", relu=True), "linear2")), "norm2")

    def stack(self, form, layers):
        """Returns the bytes of the file for some layers, one after the other."""
        x = y = self.tensor([self.case.tokens, self.case.model])
        for _ in range(layers):
            y = self.layer(y, form)
        return self.content([x], [y])


def build(case, numbers, form, layers):
    interpreter = interpreter_of(Model(case, numbers).stack(form, layers), case.threads)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], numbers["x"])
    output = interpreter.get_output_details()[0]["index"]
    return interpreter.invoke, lambda: interpreter.get_tensor(output)


if __name__ == "__main__":
    versions = {"ai-edge-litert": importlib.metadata.version("ai-edge-litert")}
    serve("LiteRT (XNNPACK)", versions, {"float32": [ONE, THREE], "int8": [ONE, THREE]}, build)
