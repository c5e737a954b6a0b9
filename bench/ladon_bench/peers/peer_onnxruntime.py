"""Runs layers in ONNX Runtime: with each of its three attention operators, or with attention from plain operators. For
int8, quantize_dynamic replaces operators by others with int8 weights, such as com.microsoft.Attention by QAttention."""

import logging

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from ladon_bench.peers.cases import EPSILON
from ladon_bench.peers.onnx_sessions import QUANTISED, quantised, session_of
from ladon_bench.peers.protocol import score_scale, serve

MICROSOFT = "com.microsoft"
CONTRIB_ATTENTION = "com.microsoft.Attention"
CONTRIB_MULTI_HEAD = "com.microsoft.MultiHeadAttention"
STANDARD = "ai.onnx Attention"
PLAIN = "MatMul, Softmax"
FORMS = [CONTRIB_ATTENTION, CONTRIB_MULTI_HEAD, STANDARD, PLAIN]
# The list lacks the operator Attention of ai.onnx: quantize_dynamic mistakes this operator for com.microsoft.Attention.
FORMS_OF_INT8 = {f"{form}, {QUANTISED}": form for form in (CONTRIB_ATTENTION, CONTRIB_MULTI_HEAD, PLAIN)}


class Graph:
    def __init__(self, case, numbers):
        self.case, self.nodes, self.constants, self.count = case, [], {}, 0
        self.numbers = numbers

    def constant(self, name, array):
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        self.count += 1
        names = [f"{kind}_{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def shape(self, *sizes):
        return self.constant("shape_" + "_".join(map(str, sizes)), np.array(sizes, np.int64))

    def linear(self, x, name, part=None):
        weight, bias = self.numbers[f"{name}_weight"], self.numbers[f"{name}_bias"]
        if part is not None:
            rows = slice(part * self.case.model, (part + 1) * self.case.model)
            name, weight, bias = f"{name}{part}", weight[rows], bias[rows]
        if self.case.precision == "int8":  # quantize_dynamic needs a weight (in, out)
            product = self.op("MatMul", x, self.constant(f"{name}_weight", weight.T))
            return self.op("Add", product, self.constant(f"{name}_bias", bias))
        constants = [self.constant(f"{name}_weight", weight), self.constant(f"{name}_bias", bias)]
        return self.op("Gemm", x, *constants, transB=1)

    def norm(self, x, name):
        weight, bias = (self.constant(f"{name}_{each}", self.numbers[f"{name}_{each}"]) for each in ("weight", "bias"))
        return self.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)

    def heads(self, x, order):
        split = self.op("Reshape", x, self.shape(self.case.tokens, self.case.heads, self.case.head_width))
        return self.op("Transpose", split, perm=order)

    def attended(self, x, form):
        """Returns the result of attention before its output projection."""
        case = self.case
        batched = self.shape(1, case.tokens, case.model)
        if form == CONTRIB_ATTENTION:
            y = self.op("Attention", self.op("Reshape", x, batched),
                        self.constant("in_proj_in_out", self.numbers["in_proj_weight"].T),
                        self.constant("in_proj_bias", self.numbers["in_proj_bias"]),
                        domain=MICROSOFT, num_heads=case.heads, unidirectional=int(case.causal))
        elif form == CONTRIB_MULTI_HEAD:
            q, k, v = (self.op("Reshape", self.linear(x, "in_proj", part), batched) for part in range(3))
            y = self.op("MultiHeadAttention", q, k, v, domain=MICROSOFT, num_heads=case.heads,
                        unidirectional=int(case.causal))
        elif form == STANDARD:
            q, k, v = (self.op("Reshape", self.linear(x, "in_proj", part), batched) for part in range(3))
            y = self.op("Attention", q, k, v, q_num_heads=case.heads, kv_num_heads=case.heads,
                        is_causal=int(case.causal))
        else:
            q, v = (self.heads(self.linear(x, "in_proj", part), [1, 0, 2]) for part in (0, 2))
            k = self.heads(self.linear(x, "in_proj", 1), [1, 2, 0])
            scores = self.op("Mul", self.op("MatMul", q, k), self.constant("scale", np.float32(score_scale(case))))
            if case.causal:
                hidden = np.where(np.tri(case.tokens, dtype=bool), np.float32(0), np.float32(-np.inf))
                scores = self.op("Add", scores, self.constant("hidden", hidden))
            weighed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
            y = self.op("Transpose", weighed, perm=[1, 0, 2])
        return self.op("Reshape", y, self.shape(case.tokens, case.model))

    def layer(self, x, form):
        y = self.linear(self.attended(x, form), "out_proj")
        if not self.case.encoder:
            return y
        x = self.norm(self.op("Add", x, y), "norm1")
        hidden = self.op("Relu", self.linear(x, "linear1"))
        return self.norm(self.op("Add", x, self.linear(hidden, "linear2")), "norm2")

    def model(self, form, layers):
        y = "x"
        for _ in range(layers):
            y = self.layer(y, form)
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [self.case.tokens, self.case.model])
                for name in ("x", y)]
        graph = helper.make_graph(self.nodes, "peer", ends[:1], ends[1:], list(self.constants.values()))
        opsets = [helper.make_opsetid("", 23), helper.make_opsetid(MICROSOFT, 1)]
        return y, helper.make_model(graph, opset_imports=opsets, ir_version=10)


def build(case, numbers, form, layers):
    output, model = Graph(case, numbers).model(FORMS_OF_INT8.get(form, form), layers)
    session = session_of(quantised(model) if form in FORMS_OF_INT8 else model, case.threads)
    x = onnxruntime.OrtValue.ortvalue_from_numpy(numbers["x"])
    y = onnxruntime.OrtValue.ortvalue_from_shape_and_type([case.tokens, case.model], np.float32)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", x)
    binding.bind_ortvalue_output(output, y)
    return lambda: session.run_with_iobinding(binding), y.numpy


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    serve("ONNX Runtime", {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__},
          {"float32": FORMS, "int8": list(FORMS_OF_INT8)}, build)
