#!/usr/bin/env bash
# OpenVINO 2026.4.1 on the CPU: a model of attention with a dynamic number of tokens computes wrong numbers for 16 or
# more tokens, if the first call of the compiled model had one token. After a first call with 8 tokens, all lengths are
# right. A compiled model of its own, or static shapes, are right, too. With INFERENCE_PRECISION_HINT bf16, the wrong
# numbers were NaN. Seen on an x86 processor with AVX-512 and without AMX; others were not tried.
# Users who warm a model up with one token, or begin a text with one, get wrong vectors later without an error. A first
# call with more tokens avoids this.
# Needs pip, and a processor with AVX-512.
set -euo pipefail
grep -qw avx512f /proc/cpuinfo || { echo "this processor has no AVX-512"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check openvino==2026.4.1 onnx==1.23.2 numpy

cat >attention.py <<'EOF'
import numpy
import openvino
from onnx import TensorProto, helper, numpy_helper

heads, width, model = 4, 32, 128
random = numpy.random.default_rng(0)
weights = {name: (random.standard_normal((model, model)) / model**0.5).astype("float32") for name in "qkvo"}


def multi_head_attention():
    nodes = []
    for name in "qkv":
        order = [0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]
        nodes += [
            helper.make_node("MatMul", ["x", "weight_" + name], ["projected_" + name]),
            helper.make_node("Reshape", ["projected_" + name, "split"], ["split_" + name]),
            helper.make_node("Transpose", ["split_" + name], [name], perm=order),
        ]
    nodes += [
        helper.make_node("MatMul", ["q", "k"], ["products"]),
        helper.make_node("Mul", ["products", "scale"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["probabilities"], axis=-1),
        helper.make_node("MatMul", ["probabilities", "v"], ["sums"]),
        helper.make_node("Transpose", ["sums"], ["rows"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["rows", "merge"], ["merged"]),
        helper.make_node("MatMul", ["merged", "weight_o"], ["y"]),
    ]
    constants = [numpy_helper.from_array(matrix, "weight_" + name) for name, matrix in weights.items()]
    constants += [
        numpy_helper.from_array(numpy.array([0, 0, heads, width]), "split"),
        numpy_helper.from_array(numpy.array([0, 0, model]), "merge"),
        numpy_helper.from_array(numpy.float32(width**-0.5), "scale"),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "tokens", model]) for name in "xy"]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def exact(x):
    q, k, v = ((x[0] @ weights[name]).reshape(-1, heads, width).transpose(1, 0, 2) for name in "qkv")
    p = numpy.exp(q @ k.transpose(0, 2, 1) * width**-0.5)
    p /= p.sum(-1, keepdims=True)
    return ((p @ v).transpose(1, 0, 2).reshape(-1, model) @ weights["o"])[None]


core = openvino.Core()
for lengths in [(16,), (8, 16, 17, 33), (1, 2, 15, 16, 17, 33)]:
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    compiled = core.compile_model(core.read_model(multi_head_attention()), "CPU", settings)
    answers = []
    for tokens in lengths:
        x = numpy.random.default_rng(tokens).standard_normal((1, tokens, model)).astype("float32")
        y, expected = compiled(x)[0], exact(x)
        right = bool(numpy.abs(y - expected).max() < 1e-4)
        answers.append(f"{tokens} tokens {'right' if right else 'wrong'}")
    print(", ".join(answers))
EOF
venv/bin/python attention.py | tee output
# Output on 30 November 2026:
diff output - <<'EOF'
16 tokens right
8 tokens right, 16 tokens right, 17 tokens right, 33 tokens right
1 tokens right, 2 tokens right, 15 tokens right, 16 tokens wrong, 17 tokens wrong, 33 tokens wrong
EOF
