"""Runs layers in LiteRT (TensorFlow Lite), which uses the kernels of XNNPACK: attention from operators of LiteRT.

This file writes the models itself, so that no converter is needed.
"""

import importlib.metadata

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from ladon_bench.peers.cases import EPSILON
from ladon_bench.peers.protocol import score_scale, serve

ONE, THREE = "one projection", "three projections"
Operator = schema.BuiltinOperator
TYPES = {np.dtype(np.float32): schema.TensorType.FLOAT32, np.dtype(np.int32): schema.TensorType.INT32}


class Model:
    """Builds a graph. Tensors are identified by their index."""

    def __init__(self, case, numbers):
        self.case, self.numbers = case, numbers
        self.graph = schema.SubGraphT(tensors=[], inputs=[], outputs=[], operators=[], name="peer")
        self.buffers = [schema.BufferT()]  # the first buffer must be empty
        self.kinds, self.constants = [], {}

    def tensor(self, shape, dtype=np.float32, buffer=0):
        name = f"tensor_{len(self.graph.tensors)}"
        self.graph.tensors.append(
            schema.TensorT(shape=list(shape), type=TYPES[np.dtype(dtype)], buffer=buffer, name=name))
        return len(self.graph.tensors) - 1

    def shape(self, tensor):
        return self.graph.tensors[tensor].shape

    def constant(self, name, array):
        if name not in self.constants:
            self.buffers.append(schema.BufferT(data=np.ascontiguousarray(array).view(np.uint8).reshape(-1)))
            self.constants[name] = self.tensor(array.shape, array.dtype, len(self.buffers) - 1)
        return self.constants[name]

    def integers(self, *values):
        return self.constant(f"integers {values}", np.array(values, np.int32))

    def op(self, kind, inputs, shape, outputs=1, options=None):
        if kind not in self.kinds:
            self.kinds.append(kind)
        results = [self.tensor(shape) for _ in range(outputs)]
        name = type(options).__name__[:-1] if options else "NONE"
        self.graph.operators.append(schema.OperatorT(
            opcodeIndex=self.kinds.index(kind), inputs=list(inputs), outputs=results,
            builtinOptionsType=getattr(schema.BuiltinOptions, name), builtinOptions=options))
        return results[0] if outputs == 1 else results

    def linear(self, x, name, rows=slice(None), relu=False):
        weight, bias = self.numbers[f"{name}_weight"][rows], self.numbers[f"{name}_bias"][rows]
        function = schema.ActivationFunctionType
        options = schema.FullyConnectedOptionsT(fusedActivationFunction=function.RELU if relu else function.NONE)
        inputs = [x, self.constant(f"{name}_weight {rows}", weight), self.constant(f"{name}_bias {rows}", bias)]
        return self.op(Operator.FULLY_CONNECTED, inputs, [self.case.tokens, len(bias)], options=options)

    def add(self, x, y):
        return self.op(Operator.ADD, [x, y], self.shape(x), options=schema.AddOptionsT())

    def multiply(self, x, y):
        return self.op(Operator.MUL, [x, y], self.shape(x), options=schema.MulOptionsT())

    def mean(self, x):
        return self.op(Operator.MEAN, [x, self.integers(1)], [self.case.tokens, 1],
                       options=schema.ReducerOptionsT(keepDims=True))

    def norm(self, x, name):
        centred = self.op(Operator.SUB, [x, self.mean(x)], self.shape(x), options=schema.SubOptionsT())
        variance = self.mean(self.multiply(centred, centred))
        epsilon = self.constant("epsilon", np.array([EPSILON], np.float32))
        factor = self.op(Operator.RSQRT, [self.add(variance, epsilon)], self.shape(variance))
        scaled = self.multiply(self.multiply(centred, factor), self.constant(name, self.numbers[f"{name}_weight"]))
        return self.add(scaled, self.constant(f"{name}_bias", self.numbers[f"{name}_bias"]))

    def reshape(self, x, *shape):
        return self.op(Operator.RESHAPE, [x, self.integers(*shape)], shape,
                       options=schema.ReshapeOptionsT(newShape=list(shape)))

    def transpose(self, x, *order):
        return self.op(Operator.TRANSPOSE, [x, self.integers(*order)], [self.shape(x)[i] for i in order],
                       options=schema.TransposeOptionsT())

    def product(self, x, y, turned=False):
        heads, rows, _ = self.shape(x)
        return self.op(Operator.BATCH_MATMUL, [x, y], [heads, rows, self.shape(y)[1 if turned else 2]],
                       options=schema.BatchMatMulOptionsT(adjY=turned))

    def query_key_value(self, x, form):
        width = self.case.model
        if form == ONE:
            packed = self.linear(x, "in_proj")
            parts = self.op(Operator.SPLIT, [self.integers(1), packed], [self.case.tokens, width], outputs=3,
                            options=schema.SplitOptionsT(numSplits=3))
        else:
            parts = [self.linear(x, "in_proj", slice(i * width, (i + 1) * width)) for i in range(3)]
        scale = self.constant("scale", np.array([score_scale(self.case)], np.float32))
        split = [self.case.tokens, self.case.heads, self.case.head_width]
        q, k, v = (self.transpose(self.reshape(part, *split), 1, 0, 2)
                   for part in (self.multiply(parts[0], scale), parts[1], parts[2]))
        return q, k, v

    def attention(self, x, form):
        case = self.case
        q, k, v = self.query_key_value(x, form)
        scores = self.product(q, k, turned=True)
        if case.causal:
            # Adds the lowest float to the score of a hidden key. With -infinity instead, LiteRT's softmax could compute
            # infinity minus infinity.
            lowest = np.finfo(np.float32).min
            hidden = np.where(np.tri(case.tokens, dtype=bool), np.float32(0), lowest)[None]
            scores = self.add(scores, self.constant("hidden", hidden))
        weights = self.op(Operator.SOFTMAX, [scores], self.shape(scores), options=schema.SoftmaxOptionsT(beta=1.0))
        together = self.transpose(self.product(weights, v), 1, 0, 2)
        return self.linear(self.reshape(together, case.tokens, case.model), "out_proj")

    def layer(self, x, form):
        y = self.attention(x, form)
        if not self.case.encoder:
            return y
        x = self.norm(self.add(x, y), "norm1")
        return self.norm(self.add(x, self.linear(self.linear(x, "linear1", relu=True), "linear2")), "norm2")

    def content(self, form, layers):
        x = y = self.tensor([self.case.tokens, self.case.model])
        for _ in range(layers):
            y = self.layer(y, form)
        self.graph.inputs, self.graph.outputs = [x], [y]
        # builtinCode holds any operator code. deprecatedBuiltinCode holds codes up to 126, and 127 for a larger code.
        codes = [schema.OperatorCodeT(deprecatedBuiltinCode=min(kind, 127), builtinCode=kind, version=1)
                 for kind in self.kinds]
        model = schema.ModelT(version=3, operatorCodes=codes, subgraphs=[self.graph], buffers=self.buffers)
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def build(case, numbers, form, layers):
    interpreter = Interpreter(model_content=Model(case, numbers).content(form, layers), num_threads=case.threads)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], numbers["x"])
    output = interpreter.get_output_details()[0]["index"]
    return interpreter.invoke, lambda: interpreter.get_tensor(output)


if __name__ == "__main__":
    versions = {"ai-edge-litert": importlib.metadata.version("ai-edge-litert")}
    serve("LiteRT (XNNPACK)", versions, lambda case: [ONE, THREE], build)
