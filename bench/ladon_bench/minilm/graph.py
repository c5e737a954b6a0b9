"""Builds MiniLM as an ONNX graph, from token ids to unit vectors, with or without a padding mask.

    ids   [batch][tokens] int64            out   [batch][384] float
    mask  [batch][tokens] int64, 1 for a token and 0 for padding; only if sentences are padded

A size is a number, or None if the size differs from call to call.
"""

import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from ladon_bench.minilm.model import EPSILON, HEAD_WIDTH, HEADS, MODEL

MICROSOFT = "com.microsoft"
PLAIN = "MatMul, Softmax"
STANDARD = "ai.onnx Attention"
CONTRIB_ATTENTION = "com.microsoft.Attention"
CONTRIB_MULTI_HEAD = "com.microsoft.MultiHeadAttention"


class Graph:
    def __init__(self, weights, attention, batch, tokens, masked):
        self.weights, self.attention, self.masked = weights, attention, masked
        self.contrib = attention.startswith(MICROSOFT)
        self.nodes, self.constants = [], {}
        sizes = [batch or "batch", tokens or "tokens"]
        self.inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, sizes)
                       for name in (["ids", "mask"] if masked else ["ids"])]
        self.tokens = tokens
        self.out = helper.make_tensor_value_info("out", TensorProto.FLOAT, [sizes[0], MODEL])

    def constant(self, name, array):
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind, *inputs, name=None, outputs=1, domain="", **attributes):
        names = [name or f"{kind}_{len(self.nodes)}"] + [f"{kind}_{len(self.nodes)}_{i}" for i in range(1, outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0]

    def product(self, x, name, weight):
        return self.op("MatMul", x, self.constant(f"{name}_weight", weight.T))

    def linear(self, x, name, pair):
        return self.op("Add", self.product(x, name, pair[0]), self.constant(f"{name}_bias", pair[1]))

    def norm(self, x, name, pair):
        parts = [self.constant(f"{name}_{i}", part) for i, part in enumerate(pair)]
        return self.op("LayerNormalization", x, *parts, axis=-1, epsilon=EPSILON)

    def embedded(self):
        word = self.op("Gather", self.constant("word", self.weights.word), "ids")
        if self.tokens:
            place = self.constant("place", self.weights.place[:self.tokens])
        else:
            count = self.op("Shape", "ids", start=1, end=2)
            first = self.constant("zero", np.array([0]))
            place = self.op("Slice", self.constant("place", self.weights.place), first, count)
        return self.norm(self.op("Add", word, place), "embedding_norm", self.weights.embedding_norm)

    def heads(self, x, order):
        split = self.op("Reshape", x, self.constant("split", np.array([0, 0, HEADS, HEAD_WIDTH])))
        return self.op("Transpose", split, perm=order)

    def attended(self, x, i, layer):
        """Returns the result of attention before its output projection."""
        name = f"layer{i}_"
        if self.attention == CONTRIB_ATTENTION:
            weight = np.concatenate([layer[part][0] for part in ("query", "key", "value")])
            bias = np.concatenate([layer[part][1] for part in ("query", "key", "value")])
            inputs = [x, self.constant(name + "in_weight", weight.T), self.constant(name + "in_bias", bias)]
            return self.op("Attention", *inputs, *(["lengths"] if self.masked else []), domain=MICROSOFT,
                           num_heads=HEADS)
        if self.attention == CONTRIB_MULTI_HEAD:
            q, k, v = (self.product(x, name + part, layer[part][0]) for part in ("query", "key", "value"))
            bias = np.concatenate([layer[part][1] for part in ("query", "key", "value")])
            return self.op("MultiHeadAttention", q, k, v, self.constant(name + "in_bias", bias),
                           *(["lengths"] if self.masked else []), domain=MICROSOFT, num_heads=HEADS)
        q, k, v = (self.linear(x, name + part, layer[part]) for part in ("query", "key", "value"))
        if self.attention == STANDARD:
            return self.op("Attention", q, k, v, *(["shown"] if self.masked else []), q_num_heads=HEADS,
                           kv_num_heads=HEADS)
        scores = self.op("MatMul", self.heads(q, [0, 2, 1, 3]), self.heads(k, [0, 2, 3, 1]))
        scores = self.op("Div", scores, self.constant("root", np.float32(math.sqrt(HEAD_WIDTH))))
        if self.masked:
            scores = self.op("Add", scores, "hidden")
        weighed = self.op("MatMul", self.op("Softmax", scores, axis=-1), self.heads(v, [0, 2, 1, 3]))
        together = self.op("Transpose", weighed, perm=[0, 2, 1, 3])
        return self.op("Reshape", together, self.constant("joined", np.array([0, 0, MODEL])))

    def residual(self, x, y, name, layer, linear, norm):
        """Returns norm(x + linear(y))."""
        if not self.contrib:
            return self.norm(self.op("Add", self.linear(y, name + linear, layer[linear]), x), name + norm, layer[norm])
        parts = [self.constant(f"{name}{norm}_{i}", part) for i, part in enumerate(layer[norm])]
        return self.op("SkipLayerNormalization", x, self.product(y, name + linear, layer[linear][0]), *parts,
                       self.constant(f"{name}{linear}_bias", layer[linear][1]), domain=MICROSOFT, epsilon=EPSILON)

    def activated(self, x, name, pair):
        """Returns gelu(linear(x)), where gelu is computed with erf."""
        if self.contrib:
            return self.op("BiasGelu", self.product(x, name, pair[0]), self.constant(f"{name}_bias", pair[1]),
                           domain=MICROSOFT)
        hidden = self.linear(x, name, pair)
        root = self.constant("root2", np.float32(math.sqrt(2)))
        erf = self.op("Erf", self.op("Div", hidden, root))
        one_more = self.op("Add", erf, self.constant("one", np.float32(1)))
        return self.op("Mul", self.op("Mul", hidden, one_more), self.constant("half", np.float32(0.5)))

    def masks(self):
        """Adds the padding mask in the form that the attention operator needs."""
        axes = self.constant("axes12", np.array([1, 2]))
        if self.contrib:
            counts = self.op("ReduceSum", "mask", self.constant("axis1", np.array([1])), keepdims=0)
            self.op("Cast", counts, name="lengths", to=TensorProto.INT32)
        elif self.attention == STANDARD:
            shown = self.op("Cast", self.op("Unsqueeze", "mask", axes), to=TensorProto.BOOL)
            rows = self.constant("rows", np.ones([1, 1, self.tokens, 1], bool))  # the operator needs one row a query
            self.op("And", shown, rows, name="shown")
        else:
            seen = self.op("Cast", self.op("Unsqueeze", "mask", axes), to=TensorProto.FLOAT)
            self.op("Mul", self.op("Sub", self.constant("one", np.float32(1)), seen),
                    self.constant("lowest", np.float32(-10000)), name="hidden")

    def pooled(self, x):
        """Computes the unit vector: the sum over the tokens, divided by the length of the sum. The mean over the tokens
        would give the same vector."""
        axis = self.constant("axis1", np.array([1]))
        if self.masked:
            shown = self.op("Cast", "mask", to=TensorProto.FLOAT)
            x = self.op("Mul", x, self.op("Unsqueeze", shown, self.constant("axis2", np.array([2]))))
        total = self.op("ReduceSum", x, axis, keepdims=0)
        self.op("Div", total, self.op("ReduceL2", total, axis, keepdims=1), name="out")

    def model(self):
        if self.masked:
            self.masks()
        x = self.embedded()
        for i, layer in enumerate(self.weights.layers):
            x = self.residual(x, self.attended(x, i, layer), f"layer{i}_", layer, "output", "norm1")
            hidden = self.activated(x, f"layer{i}_linear1", layer["linear1"])
            x = self.residual(x, hidden, f"layer{i}_", layer, "linear2", "norm2")
        self.pooled(x)
        graph = helper.make_graph(self.nodes, "minilm", self.inputs, [self.out], list(self.constants.values()))
        opset = 23 if self.attention == STANDARD else 18
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)
