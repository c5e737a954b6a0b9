#!/usr/bin/env python3
"""Cases of ONNX's operator Attention (opset 23 to 25), with expected outputs from plain loops in float64.

    make_cases.py FOLDER           writes the cases of this file, one JSON file each
    make_cases.py --check FOLDER   compares the loops with the cases in FOLDER

A case is {name, opset, attributes, inputs, outputs}, as in the other conformance data. A tensor is {dims, dtype, data}
in row-major order. "nan", "inf" and "-inf" are strings. The loops follow the specification of the operator
(https://onnx.ai/onnx/operators/onnx__Attention.html). The program needs only Python.
"""

import argparse
import itertools
import json
import math
import pathlib
import random
import struct

INF = math.inf
WORDS = {"nan": math.nan, "inf": INF, "-inf": -INF}


class Tensor:
    def __init__(self, dims, data, dtype="float32"):
        self.dims, self.data, self.dtype = list(dims), data, dtype
        assert len(data) == math.prod(dims), (dims, len(data))

    @classmethod
    def read(cls, stored):
        data = [WORDS.get(value, value) for value in stored["data"]]
        return cls(stored["dims"], data, stored["dtype"])

    def at(self, *index):
        """Returns the element at an index that broadcasts: missing leading dimensions and dimensions of 1 repeat."""
        flat = 0
        for size, i in zip(self.dims, index[len(index) - len(self.dims):]):
            flat = flat * size + (0 if size == 1 else i)
        return self.data[flat]

    def stored(self):
        def written(value):
            if self.dtype in ("bool", "int64"):
                return value
            if math.isnan(value):
                return "nan"
            if math.isinf(value):
                return "inf" if value > 0 else "-inf"
            exact = rounded(value, self.dtype)
            short = next(number for digits in range(1, 18) if rounded(number := float(f"{exact:.{digits}g}"), self.dtype)
                         == exact)
            return int(short) if short == int(short) and abs(short) < 1e6 else short

        return {"dims": self.dims, "dtype": self.dtype, "data": [written(value) for value in self.data]}


def rounded(value, dtype):
    code = {"float32": "f", "float16": "e"}.get(dtype)
    if code is None or not math.isfinite(value):
        return value
    try:
        return struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(INF, value)


# The operator


def by_head(tensor, heads):
    """Returns a tensor as [batch][heads][length][width]. Three dimensions are [batch, length, heads * width]."""
    if len(tensor.dims) == 4:
        return tensor
    batch, length, model = tensor.dims
    width = model // heads
    data = [tensor.data[(b * length + i) * model + h * width + d]
            for b in range(batch) for h in range(heads) for i in range(length) for d in range(width)]
    return Tensor([batch, heads, length, width], data, tensor.dtype)


def appended(past, new):
    if past is None:
        return new
    batch, heads, before, width = past.dims
    after = new.dims[2]
    data = []
    for row in range(batch * heads):
        data += past.data[row * before * width:(row + 1) * before * width]
        data += new.data[row * after * width:(row + 1) * after * width]
    return Tensor([batch, heads, before + after, width], data, new.dtype)


def softmax(scores):
    top = max(scores, default=-INF)
    if top == -INF:
        return [0.0] * len(scores)
    weights = [math.exp(s - top) if not math.isnan(s - top) else math.nan for s in scores]
    total = math.fsum(weights) if not any(map(math.isnan, weights)) else math.nan
    return [w / total for w in weights]


def run(opset, attributes, inputs):
    """Returns the four outputs of the operator."""
    option = attributes.get
    q = by_head(inputs["Q"], option("q_num_heads"))
    k = appended(inputs.get("past_key"), by_head(inputs["K"], option("kv_num_heads")))
    v = appended(inputs.get("past_value"), by_head(inputs["V"], option("kv_num_heads")))
    batch, heads, queries, width = q.dims
    groups, keys, value_width = k.dims[1], k.dims[2], v.dims[3]
    mask, valid = inputs.get("attn_mask"), inputs.get("nonpad_kv_seqlen")
    before = inputs["past_key"].dims[2] if "past_key" in inputs else 0
    scale = option("scale", 1 / math.sqrt(width))
    cap, mode = option("softcap", 0), option("qk_matmul_output_mode", 0)
    left, right = option("left_window_size", -1), option("right_window_size", -1)

    def bias(b, h, i, j):
        """Returns the sum of the masks' addends for a score. -inf hides the key."""
        position = i + (before if valid is None else valid.data[b] - queries)
        if option("is_causal", 0) and j > position:
            return -INF
        if (left >= 0 and j < position - left) or (right >= 0 and j > position + right):
            return -INF
        if valid is not None and j >= valid.data[b]:
            return -INF
        if mask is None:
            return 0.0
        columns = mask.dims[-1]
        if j >= columns and not (columns == 1 and opset < 24):
            return -INF
        entry = mask.at(b, h, i, j)
        return entry if mask.dtype != "bool" else 0.0 if entry else -INF

    rows, captured = {}, []
    for b, h, i in itertools.product(range(batch), range(heads), range(queries)):
        g = h // (heads // groups)
        raw = [scale * math.fsum(q.at(b, h, i, d) * k.at(b, g, j, d) for d in range(width)) for j in range(keys)]
        capped = [cap * math.tanh(s / cap) for s in raw] if cap > 0 else raw
        biases = [bias(b, h, i, j) for j in range(keys)]
        masked = [-INF if a == -INF else s + a for s, a in zip(capped, biases)]
        weights = softmax(masked)
        captured += (raw, capped, masked, weights)[mode]
        seen = [(w, j) for j, w in enumerate(weights) if biases[j] != -INF]
        rows[b, h, i] = [sum(w * v.at(b, g, j, d) for w, j in seen) for d in range(value_width)]

    if len(inputs["Q"].dims) == 4:
        order, dims = itertools.product(range(batch), range(heads), range(queries)), [batch, heads, queries, value_width]
    else:
        order = ((b, h, i) for b in range(batch) for i in range(queries) for h in range(heads))
        dims = [batch, queries, heads * value_width]
    kind = inputs["Q"].dtype
    return {
        "Y": Tensor(dims, [value for row in order for value in rows[row]], kind),
        "present_key": k,
        "present_value": v,
        "qk_matmul_output": Tensor([batch, heads, queries, keys], captured, kind),
    }


# Cases


class Maker:
    """Makes numbers with two decimals, rounded to their dtype. The name of a case is the seed of its numbers."""

    def __init__(self, name):
        self.random = random.Random(name)

    def floats(self, *dims, spread=1.0, dtype="float32"):
        data = [rounded(round(self.random.gauss(0, spread), 2), dtype) for _ in range(math.prod(dims))]
        return Tensor(dims, data, dtype)

    def bools(self, *dims, shown=0.6):
        return Tensor(dims, [self.random.random() < shown for _ in range(math.prod(dims))], "bool")


def case(name, q, kv, attributes=None, *, batch=1, opset=24, form=4, past=None, mask=None, valid=None, dtype="float32",
         spread=1.0, change=None, outputs=("Y",)):
    """Returns a case. q is (heads, queries, width). kv is (kv_heads, keys, value_width). mask(maker) makes the mask."""
    make, attributes = Maker(name), dict(attributes or {})
    heads, queries, width = q
    groups, keys, value_width = kv
    if form == 4:
        sizes = {"Q": (batch, heads, queries, width), "K": (batch, groups, keys, width),
                 "V": (batch, groups, keys, value_width)}
    else:
        attributes |= {"q_num_heads": heads, "kv_num_heads": groups}
        sizes = {"Q": (batch, queries, heads * width), "K": (batch, keys, groups * width),
                 "V": (batch, keys, groups * value_width)}
    inputs = {key: make.floats(*dims, spread=spread, dtype=dtype) for key, dims in sizes.items()}
    if mask is not None:
        inputs["attn_mask"] = mask(make)
    if past is not None:
        inputs["past_key"] = make.floats(batch, groups, past, width, spread=spread, dtype=dtype)
        inputs["past_value"] = make.floats(batch, groups, past, value_width, dtype=dtype)
    if valid is not None:
        inputs["nonpad_kv_seqlen"] = Tensor([batch], valid, "int64")
    if change is not None:
        change(inputs)
    return {"name": name, "opset": opset, "attributes": attributes, "inputs": inputs, "outputs": outputs}


def floats(*dims, hidden=0.0, dtype="float32"):
    """Returns a function that makes a float mask. Each element is -inf with the probability `hidden`."""

    def make(maker):
        tensor = maker.floats(*dims, dtype=dtype)
        tensor.data = [-INF if maker.random.random() < hidden else value for value in tensor.data]
        return tensor

    return make


def bools(*dims, shown=0.6, empty_rows=()):
    """Returns a function that makes a bool mask. Each element is True with the probability `shown`, but the rows
    `empty_rows` hide every key."""

    def make(maker):
        tensor = maker.bools(*dims, shown=shown)
        for row in empty_rows:
            tensor.data[row * dims[-1]:(row + 1) * dims[-1]] = [False] * dims[-1]
        return tensor

    return make


def filled(value, *dims):
    return lambda _: Tensor(dims, [value] * math.prod(dims))


def with_nan_in_first_value(inputs):
    inputs["V"].data[0] = math.nan
    inputs["V"].data[-1] = INF


SCORES = ("Y", "qk_matmul_output")
CACHE = ("Y", "present_key", "present_value")
EVERYTHING = CACHE + ("qk_matmul_output",)


def cases():
    # Sizes
    yield case("one_of_everything", (1, 1, 1), (1, 1, 1), outputs=EVERYTHING)
    yield case("one_of_everything_3d_past", (1, 1, 1), (1, 1, 1), {"is_causal": 1}, form=3, past=1, outputs=EVERYTHING)
    yield case("one_query_narrow_keys_wide_values", (2, 1, 3), (2, 17, 5), batch=2)
    yield case("primes", (5, 7, 3), (5, 13, 11))
    yield case("more_queries_than_a_panel_3d", (2, 37, 5), (1, 19, 4), form=3)
    yield case("long_rows_in_skipped_blocks", (1, 3, 2), (1, 530, 1), {"is_causal": 1, "qk_matmul_output_mode": 2},
               valid=[12], outputs=SCORES)
    yield case("long_rows_weights", (1, 2, 2), (1, 530, 1), {"qk_matmul_output_mode": 3, "left_window_size": 3},
               opset=25, valid=[300], outputs=SCORES)
    yield case("long_rows_raw_scores", (1, 2, 2), (1, 530, 1), {"is_causal": 1}, valid=[261], outputs=SCORES)

    # Scale and softcap
    yield case("scale_zero", (2, 3, 4), (2, 5, 4), {"scale": 0.0}, outputs=SCORES)
    yield case("scale_negative", (2, 3, 4), (2, 5, 4), {"scale": -0.5, "qk_matmul_output_mode": 3}, outputs=SCORES)
    yield case("scale_whole_number", (2, 3, 4), (2, 5, 4), {"scale": 2}, outputs=SCORES)
    yield case("scale_tiny_softcap_tiny", (2, 3, 4), (2, 5, 4),
               {"scale": 1e-05, "softcap": 1e-05, "qk_matmul_output_mode": 1}, outputs=SCORES)
    yield case("softcap_saturates", (3, 4, 6), (1, 9, 5), {"softcap": 0.7, "scale": 8.0, "qk_matmul_output_mode": 2},
               mask=bools(4, 9), outputs=SCORES)
    yield case("scores_far_apart", (2, 4, 8), (2, 6, 3), {"scale": 16.0}, mask=floats(2, 4, 6))

    # The masks of the next cases have 1 to 4 dimensions, with and without broadcasting.
    yield case("mask_of_keys_alone", (2, 3, 4), (2, 6, 4), batch=2, mask=bools(6))
    yield case("mask_2d_one_query", (2, 3, 4), (2, 6, 4), batch=2, mask=floats(1, 6, hidden=0.3))
    yield case("mask_3d_heads", (4, 3, 4), (2, 6, 4), batch=2, mask=bools(4, 3, 6))
    yield case("mask_3d_heads_one_query", (4, 3, 4), (2, 6, 4), batch=2, mask=floats(4, 1, 6))
    yield case("mask_3d_ones", (4, 3, 4), (2, 6, 4), batch=2, mask=bools(1, 1, 6))
    yield case("mask_4d_batch", (2, 3, 4), (2, 6, 4), batch=3, mask=bools(3, 1, 3, 6), opset=23)
    yield case("mask_4d_batch_one_query_3d", (2, 3, 4), (2, 6, 4), batch=3, form=3, mask=bools(3, 1, 1, 6))
    yield case("mask_4d_heads", (2, 3, 4), (2, 6, 4), batch=3, mask=floats(1, 2, 3, 6, hidden=0.2))
    yield case("mask_4d_full_fully_masked_rows", (2, 3, 4), (2, 6, 4), {"qk_matmul_output_mode": 3}, batch=2,
               mask=bools(2, 2, 3, 6, empty_rows=(0, 4, 11)), outputs=SCORES)
    yield case("mask_float_all_hidden", (2, 3, 4), (2, 6, 4), {"qk_matmul_output_mode": 2}, mask=filled(-INF, 3, 6),
               outputs=SCORES)
    yield case("mask_lowest_float_is_not_infinite", (2, 3, 4), (2, 6, 4), {"qk_matmul_output_mode": 3},
               mask=filled(-3.4028234663852886e38, 3, 6), outputs=SCORES)
    yield case("mask_one_column_opset_23", (2, 3, 4), (2, 6, 4), opset=23, mask=floats(3, 1))

    # The next cases have masks with fewer columns than keys.
    yield case("short_mask", (2, 3, 4), (2, 9, 4), {"qk_matmul_output_mode": 2}, mask=floats(3, 5), outputs=SCORES)
    yield case("short_mask_past_causal", (4, 3, 4), (2, 4, 5), {"is_causal": 1, "qk_matmul_output_mode": 3}, batch=2,
               past=5, mask=bools(2, 4, 3, 7), outputs=EVERYTHING)
    yield case("short_mask_valid_keys", (2, 4, 3), (2, 9, 5), batch=2, mask=floats(2, 1, 1, 6), valid=[6, 2])
    yield case("short_mask_one_column", (2, 3, 4), (2, 6, 4), mask=bools(2, 3, 1))

    # Caches
    yield case("past_mqa_3d_softcap", (6, 2, 4), (1, 3, 7), {"is_causal": 1, "softcap": 1.5, "qk_matmul_output_mode": 1},
               batch=2, form=3, past=4, opset=23, outputs=EVERYTHING)
    yield case("past_gqa_mask_raw_scores", (6, 2, 5), (3, 1, 2), {"is_causal": 1, "qk_matmul_output_mode": 0}, past=8,
               mask=bools(2, 9, empty_rows=(1,)), outputs=("Y", "present_value", "qk_matmul_output"))
    yield case("past_without_present", (2, 1, 4), (1, 1, 4), past=6, batch=3)
    yield case("past_of_nothing", (2, 3, 4), (2, 3, 4), {"is_causal": 1}, past=0, outputs=CACHE)
    yield case("valid_keys_none_and_all", (4, 3, 4), (2, 7, 4), {"qk_matmul_output_mode": 3}, batch=3, valid=[0, 7, 1],
               outputs=SCORES)
    yield case("valid_keys_causal_negative_offset", (4, 5, 4), (2, 7, 3), {"is_causal": 1, "qk_matmul_output_mode": 2},
               batch=3, valid=[2, 7, 0], outputs=SCORES)
    yield case("valid_keys_raw_scores_3d", (2, 3, 4), (2, 7, 3), {"is_causal": 1}, batch=2, form=3, valid=[4, 6],
               mask=floats(2, 2, 3, 7), outputs=SCORES)
    yield case("valid_keys_capped_scores", (2, 3, 4), (1, 7, 3), {"softcap": 3.0, "qk_matmul_output_mode": 1}, batch=2,
               valid=[3, 5], mask=bools(1, 7), outputs=SCORES)

    # ONNX aligns a causal mask at the first key: without a cache, query i sees the keys 0 to i, even if keys and
    # queries differ in number.
    yield case("causal_more_queries_than_keys", (2, 9, 3), (2, 4, 5), {"is_causal": 1, "qk_matmul_output_mode": 3},
               outputs=SCORES)
    yield case("causal_more_keys_than_queries", (3, 4, 3), (1, 9, 5), {"is_causal": 1, "qk_matmul_output_mode": 2},
               batch=2, mask=floats(2, 3, 4, 9), outputs=SCORES)

    # Windows
    yield case("window_left", (2, 7, 3), (2, 7, 3), {"left_window_size": 2}, opset=25)
    yield case("window_right", (2, 7, 3), (1, 9, 3), {"right_window_size": 0, "qk_matmul_output_mode": 3}, opset=25,
               outputs=SCORES)
    yield case("window_both_past", (2, 4, 3), (2, 4, 3),
               {"left_window_size": 1, "right_window_size": 2, "qk_matmul_output_mode": 2}, opset=25, past=3, batch=2,
               outputs=EVERYTHING)
    yield case("window_causal_valid_keys_mask", (4, 5, 3), (2, 8, 3),
               {"is_causal": 1, "left_window_size": 0, "right_window_size": 3}, opset=25, batch=2, valid=[6, 2],
               mask=bools(4, 5, 8, shown=0.8))
    yield case("window_wider_than_the_keys", (2, 3, 3), (2, 5, 3),
               {"is_causal": 1, "left_window_size": 4096, "right_window_size": 8}, opset=25, past=2)
    yield case("window_wide_queries_beyond_the_keys", (1, 12, 3), (1, 4, 3), {"left_window_size": 5}, opset=25)
    yield case("window_unbounded", (2, 3, 4), (2, 5, 4), {"left_window_size": -1, "right_window_size": -1}, opset=25)

    # Precision
    yield case("float16_past_mask", (4, 3, 8), (2, 2, 4), {"is_causal": 1, "qk_matmul_output_mode": 3,
                                                           "softmax_precision": 1},
               batch=2, past=3, mask=floats(3, 5, dtype="float16"), dtype="float16", spread=0.5, outputs=EVERYTHING)
    yield case("float16_lowest_mask", (2, 3, 4), (2, 5, 4), mask=lambda _: Tensor([3, 5], [-65504.0, 0.0] * 7 + [0.0],
                                                                                 "float16"), dtype="float16")
    yield case("softmax_in_double", (2, 3, 4), (2, 5, 4), {"softmax_precision": 11}, spread=2.0)
    yield case("not_finite_values", (2, 3, 4), (1, 5, 4), change=with_nan_in_first_value)


def check(folder):
    worst, files = {}, sorted(pathlib.Path(folder).rglob("*.json"))
    for path in files:
        stored = json.loads(path.read_text())
        if not isinstance(stored, dict) or not {"opset", "inputs", "outputs"} <= stored.keys():
            continue
        inputs = {name: Tensor.read(tensor) for name, tensor in stored["inputs"].items()}
        computed = run(stored["opset"], stored["attributes"], inputs)
        for name, tensor in stored["outputs"].items():
            expected = Tensor.read(tensor)
            assert computed[name].dims == expected.dims, (path, name)
            for got, want in zip(computed[name].data, expected.data):
                same = got == want or (math.isnan(got) and math.isnan(want))
                error = 0.0 if same else abs(got - want) / max(1.0, abs(want))
                error = INF if math.isnan(error) else error
                worst[expected.dtype] = max(worst.get(expected.dtype, 0.0), error)
                if error > (1e-3 if expected.dtype == "float16" else 1e-5):
                    raise SystemExit(f"{path}: {name}: {got}, but {want} is expected")
    print(f"{len(files)} files; largest error: {worst}")


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for made in cases():
        outputs = run(made["opset"], made["attributes"], made["inputs"])
        stored = {**made, "inputs": {name: tensor.stored() for name, tensor in made["inputs"].items()},
                  "outputs": {name: outputs[name].stored() for name in made["outputs"]}}
        (folder / (made["name"] + ".json")).write_text(json.dumps(stored, separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    (check if arguments.check else write)(arguments.folder)


if __name__ == "__main__":
    main()
