"""Builds models of LiteRT (TensorFlow Lite) by the schema of its files, so that no converter is needed, and runs
them."""

import dataclasses
import math

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

Operator = schema.BuiltinOperator
TYPES = {np.dtype(np.float32): schema.TensorType.FLOAT32, np.dtype(np.int32): schema.TensorType.INT32,
         np.dtype(np.int8): schema.TensorType.INT8}


def packed(model):
    """Returns the bytes of a file with this model."""
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def interpreter_of(content, threads):
    """Returns an interpreter, which uses the kernels of XNNPACK."""
    interpreter = Interpreter(model_content=content, num_threads=threads)
    interpreter.allocate_tensors()
    return interpreter


def quantised(weight):
    """Returns int8 weights and the scale of each output, as dynamic_wi8_afp32() of ai-edge-quantizer writes them."""
    scale = np.maximum(np.abs(weight).max(axis=1), np.finfo(np.float32).tiny) / np.float32(127)
    return np.clip(np.rint(weight / scale[:, None]), -127, 127).astype(np.int8), scale


@dataclasses.dataclass
class Graph:
    """Builds a graph. Tensors are identified by their index. With int8, linear maps have int8 weights with a scale for
    each output, and XNNPACK quantises their inputs at run time."""

    int8: bool = False

    def __post_init__(self):
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

    def number(self, value):
        return self.constant(f"number {value}", np.array([value], np.float32))

    def integers(self, *values):
        return self.constant(f"integers {values}", np.array(values, np.int32))

    def int8_weight(self, name, weight):
        if name not in self.constants:
            numbers, scale = quantised(weight)
            self.graph.tensors[self.constant(name, numbers)].quantization = schema.QuantizationParametersT(
                scale=scale, zeroPoint=np.zeros(len(scale), np.int64), quantizedDimension=0)
        return self.constants[name]

    def op(self, kind, inputs, shape, outputs=1, options=None, dtype=np.float32):
        if kind not in self.kinds:
            self.kinds.append(kind)
        results = [self.tensor(shape, dtype) for _ in range(outputs)]
        name = type(options).__name__[:-1] if options else "NONE"
        self.graph.operators.append(schema.OperatorT(
            opcodeIndex=self.kinds.index(kind), inputs=list(inputs), outputs=results,
            builtinOptionsType=getattr(schema.BuiltinOptions, name), builtinOptions=options))
        return results[0] if outputs == 1 else results

    def linear(self, x, name, weight, bias, relu=False):
        """Returns x W^T + b, where x is [tokens][in]. Linear maps with equal names share their weights."""
        function = schema.ActivationFunctionType
        options = schema.FullyConnectedOptionsT(fusedActivationFunction=function.RELU if relu else function.NONE)
        constant = self.int8_weight if self.int8 else self.constant
        inputs = [x, constant(f"{name}_weight", weight), self.constant(f"{name}_bias", bias)]
        return self.op(Operator.FULLY_CONNECTED, inputs, [self.shape(x)[0], len(bias)], options=options)

    def add(self, x, y):
        return self.op(Operator.ADD, [x, y], self.broadcast(x, y), options=schema.AddOptionsT())

    def subtract(self, x, y):
        return self.op(Operator.SUB, [x, y], self.broadcast(x, y), options=schema.SubOptionsT())

    def multiply(self, x, y):
        return self.op(Operator.MUL, [x, y], self.broadcast(x, y), options=schema.MulOptionsT())

    def broadcast(self, x, y):
        return np.broadcast_shapes(self.shape(x), self.shape(y))

    def reduce(self, kind, x, axis, keep=True):
        shape = [1 if i == axis else size for i, size in enumerate(self.shape(x)) if keep or i != axis]
        return self.op(kind, [x, self.integers(axis)], shape, options=schema.ReducerOptionsT(keepDims=keep))

    def norm(self, x, name, weight, bias, epsilon):
        """Returns the layer normalisation of x, which is [tokens][model]."""
        centred = self.subtract(x, self.reduce(Operator.MEAN, x, 1))
        variance = self.reduce(Operator.MEAN, self.multiply(centred, centred), 1)
        factor = self.op(Operator.RSQRT, [self.add(variance, self.number(epsilon))], self.shape(variance))
        scaled = self.multiply(self.multiply(centred, factor), self.constant(f"{name}_weight", weight))
        return self.add(scaled, self.constant(f"{name}_bias", bias))

    def reshape(self, x, *shape):
        """Reshapes x. A size of -1 follows from the other sizes. LiteRT computes this size again if the size of an
        input changes."""
        rest = math.prod(self.shape(x)) // abs(math.prod(shape))
        result = [rest if size == -1 else size for size in shape]
        return self.op(Operator.RESHAPE, [x, self.integers(*shape)], result,
                       options=schema.ReshapeOptionsT(newShape=list(shape)))

    def transpose(self, x, *order):
        return self.op(Operator.TRANSPOSE, [x, self.integers(*order)], [self.shape(x)[i] for i in order],
                       options=schema.TransposeOptionsT())

    def product(self, x, y, turned=False):
        """Returns the products of the matrices in x and in y. If `turned`, the matrices in y are transposed."""
        return self.op(Operator.BATCH_MATMUL, [x, y], [*self.shape(x)[:-1], self.shape(y)[-2 if turned else -1]],
                       options=schema.BatchMatMulOptionsT(adjY=turned))

    def split(self, x, parts):
        rows, columns = self.shape(x)
        return self.op(Operator.SPLIT, [self.integers(1), x], [rows, columns // parts], outputs=parts,
                       options=schema.SplitOptionsT(numSplits=parts))

    def attention(self, q, k, v, heads, hidden=None, texts=None):
        """Returns the result of attention before its output projection, [tokens][model], from projections of the same
        shape. `hidden` is added to the scores [heads][tokens][tokens]. With `texts`, the rows are that many texts of
        the same length, and the scores are [texts][heads][tokens][tokens]."""
        model = self.shape(q)[1]
        split = [*([texts] if texts else []), -1, heads, model // heads]
        order = [0, 2, 1, 3] if texts else [1, 0, 2]
        scaled = self.multiply(q, self.number(1 / math.sqrt(model // heads)))
        q, k, v = (self.transpose(self.reshape(part, *split), *order) for part in (scaled, k, v))
        scores = self.product(q, k, turned=True)
        if hidden is not None:
            scores = self.add(scores, hidden)
        together = self.transpose(self.product(self.softmax(scores), v), *order)
        return self.reshape(together, -1, model)

    def softmax(self, x):
        return self.op(Operator.SOFTMAX, [x], self.shape(x), options=schema.SoftmaxOptionsT(beta=1.0))

    def content(self, inputs, outputs):
        """Returns the bytes of the file."""
        self.graph.inputs, self.graph.outputs = list(inputs), list(outputs)
        # Operator codes above 126 do not fit into the old field deprecatedBuiltinCode. For these codes,
        # deprecatedBuiltinCode is 127, and LiteRT reads builtinCode.
        codes = [schema.OperatorCodeT(deprecatedBuiltinCode=min(kind, 127), builtinCode=kind, version=1)
                 for kind in self.kinds]
        return packed(schema.ModelT(version=3, operatorCodes=codes, subgraphs=[self.graph], buffers=self.buffers))
