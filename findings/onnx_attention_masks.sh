#!/usr/bin/env bash
# The operator Attention (opset 24) treats three masks and outputs differently in ONNX Runtime 1.32.0 and in the reference
# evaluator of onnx 1.23.2. Other cases of masks, caches, groups of heads and lengths agreed to 1e-6.
# - A row of an additive mask in which all values are the lowest float, as masks of transformers have it for a query
#   without a key: ONNX Runtime returns zeros, and the reference the mean of the values, as float arithmetic does.
#   A row of -3.4e38 gives the mean in both.
# - A padding mask of the shape (batch, 1, 1, keys), and a mask with fewer columns than keys: the operator's description
#   allows both, and ONNX Runtime refuses them.
# - qk_matmul_output_mode 0 with a softcap: the description says that these are the scores before the softcap, which
#   ONNX Runtime returns. The reference returns capped scores.
# Needs pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy

cat >attention.py <<'EOF'
import numpy
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

random = numpy.random.default_rng(0)
feeds = {name: random.standard_normal((1, 1, 3, 4)).astype("float32") for name in "qkv"}


def runtime(model, given):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, given)


def both(name, mask=None, outputs=("y",), **attributes):
    given = {**feeds, **({"mask": mask} if mask is not None else {})}
    types = {"float32": TensorProto.FLOAT, "bool": TensorProto.BOOL}
    inputs = [helper.make_tensor_value_info(one, types[str(value.dtype)], value.shape) for one, value in given.items()]
    results = [helper.make_tensor_value_info(one, TensorProto.FLOAT, None) for one in outputs if one]
    node = helper.make_node("Attention", list(given), list(outputs), **attributes)
    graph = helper.make_graph([node], "graph", inputs, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)
    for who, result in [
        ("reference", lambda: ReferenceEvaluator(model).run(None, given)),
        ("ONNX Runtime", lambda: runtime(model.SerializeToString(), given)),
    ]:
        try:
            row = result()[-1][0, 0, 1]
            print(f"{name}, {who}:", *(f"{number + 0.0:.2f}" for number in row))
        except Exception as error:
            print(f"{name}, {who}: refused" + (" (mask)" if "mask" in str(error) else ""))


for low in (-3.4e38, numpy.finfo("float32").min):
    row = numpy.zeros((3, 3), "float32")
    row[1] = low
    both(f"row of {low:.9g}", row)
both("padding", numpy.array([True, False, True]).reshape(1, 1, 1, 3))
both("short", numpy.ones((3, 2), bool))
both("scores without softcap", outputs=["y", "", "", "scores"], qk_matmul_output_mode=0)
both("scores with softcap 0.5", outputs=["y", "", "", "scores"], qk_matmul_output_mode=0, softcap=0.5)
EOF
venv/bin/python attention.py 2>/dev/null | tee output
# Output on 29 November 2026:
diff output - <<'EOF'
row of -3.4e+38, reference: 0.10 0.29 -0.51 -0.26
row of -3.4e+38, ONNX Runtime: 0.10 0.29 -0.51 -0.26
row of -3.40282347e+38, reference: 0.10 0.29 -0.51 -0.26
row of -3.40282347e+38, ONNX Runtime: 0.00 0.00 0.00 0.00
padding, reference: 0.22 0.38 -0.13 -0.10
padding, ONNX Runtime: refused (mask)
short, reference: -0.19 0.20 -0.96 -0.35
short, ONNX Runtime: refused (mask)
scores without softcap, reference: -0.58 0.85 0.01
scores without softcap, ONNX Runtime: -0.58 0.85 0.01
scores with softcap 0.5, reference: -0.41 0.47 0.01
scores with softcap 0.5, ONNX Runtime: -0.58 0.85 0.01
EOF
