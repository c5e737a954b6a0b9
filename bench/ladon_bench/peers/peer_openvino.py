"""Runs layers in OpenVINO: with its attention operator or with attention from plain operators, after one projection or
three projections. For int8, nncf quantises weights and inputs, or only weights."""

import numpy as np
import openvino
from openvino import opset13 as ops

from ladon_bench.peers.cases import EPSILON
from ladon_bench.peers.openvino_models import DYNAMIC, HAS_NNCF, STATIC, compiled, versions
from ladon_bench.peers.protocol import score_scale, serve

FORMS = [f"{attention}, {projections}" for attention in ("ScaledDotProductAttention", "MatMul, Softmax")
         for projections in ("one projection", "three projections")]
FORMS_OF_INT8 = {f"{form}, {way}": (form, way) for way in (STATIC, DYNAMIC) for form in FORMS}


def model(case, numbers, form, layers):
    constants = {}

    def constant(name, array):
        if name not in constants:
            constants[name] = ops.constant(np.ascontiguousarray(array))
        return constants[name]

    def linear(x, name, rows=slice(None)):
        suffix = f"{name}[{rows.start}]"
        product = ops.matmul(x, constant(f"{suffix}_weight", numbers[f"{name}_weight"][rows]), False, True)
        return ops.add(product, constant(f"{suffix}_bias", numbers[f"{name}_bias"][rows]))

    def norm(x, name):
        normal = ops.mvn(x, np.array([1], np.int64), True, EPSILON, "inside_sqrt")
        scaled = ops.multiply(normal, constant(f"{name}_weight", numbers[f"{name}_weight"]))
        return ops.add(scaled, constant(f"{name}_bias", numbers[f"{name}_bias"]))

    def shaped(x, *sizes):
        return ops.reshape(x, np.array(sizes, np.int64), False)

    def heads(x):
        split = shaped(x, 1, case.tokens, case.heads, case.head_width)
        return ops.transpose(split, np.array([0, 2, 1, 3], np.int64))

    def query_key_value(x):
        if form.endswith("three projections"):
            return [heads(linear(x, "in_proj", slice(i * case.model, (i + 1) * case.model))) for i in range(3)]
        parts = ops.split(linear(x, "in_proj"), np.int64(1), 3)
        return [heads(parts.output(i)) for i in range(3)]

    def attention(x):
        q, k, v = query_key_value(x)
        if form.startswith("Scaled"):
            y = ops.scaled_dot_product_attention(q, k, v, causal=case.causal)
        else:
            scores = ops.multiply(ops.matmul(q, k, False, True), constant("scale", np.float32(score_scale(case))))
            if case.causal:
                hidden = np.where(np.tri(case.tokens, dtype=bool), np.float32(0), np.float32(-np.inf))
                scores = ops.add(scores, constant("hidden", hidden[None, None]))
            y = ops.matmul(ops.softmax(scores, 3), v, False, False)
        together = shaped(ops.transpose(y, np.array([0, 2, 1, 3], np.int64)), case.tokens, case.model)
        return linear(together, "out_proj")

    def layer(x):
        y = attention(x)
        if not case.encoder:
            return y
        x = norm(ops.add(x, y), "norm1")
        return norm(ops.add(x, linear(ops.relu(linear(x, "linear1")), "linear2")), "norm2")

    x = y = ops.parameter([case.tokens, case.model], np.float32)
    for _ in range(layers):
        y = layer(y)
    return openvino.Model([y], [x], "peer")


def build(case, numbers, form, layers):
    form, way = FORMS_OF_INT8.get(form, (form, None))
    network = model(case, numbers, form, layers)
    request = compiled(network, case.threads, way, [[numbers["x"]]]).create_infer_request()
    request.set_input_tensor(openvino.Tensor(numbers["x"], shared_memory=False))
    return request.infer, lambda: request.get_output_tensor().data


if __name__ == "__main__":
    serve("OpenVINO", versions(), {"float32": FORMS, **({"int8": list(FORMS_OF_INT8)} if HAS_NNCF else {})}, build)
