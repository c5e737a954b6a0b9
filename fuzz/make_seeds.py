#!/usr/bin/env python3
"""make_seeds.py [FOLDER]: writes the seeds of all fuzzers into FOLDER (seeds/ beside this file).

The comment at the top of each fuzz_NAME.cpp describes the input of the fuzzer.
"""

import json
import pathlib
import random
import struct
import sys


def safetensors(tensors, metadata=None):
    """Returns a safetensors file with the tensors (name, dtype, shape, bytes)."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, values in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def floats(count, first=0.0):
    return struct.pack(f"<{count}f", *(first + i / 8 for i in range(count)))


def halves(count):
    return struct.pack(f"<{count}e", *(i / 8 for i in range(count)))


def brain_floats(count):
    return b"".join(struct.pack("<f", i / 8)[2:] for i in range(count))


def seeds_of_safetensors():
    small = [("a", "F32", [2, 3], floats(6)), ("b.weight", "F16", [4], halves(4)), ("c", "BF16", [], brain_floats(1))]
    with_escapes = '{"\\u001b[2J\\n\\ud83d\\ude00":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}'.encode()
    return {
        "empty": safetensors([]),
        "small": safetensors(small, {"format": "pt"}),
        "no_values": safetensors([("none", "F32", [0, 7], b""), ("one", "U8", [1], b"x")]),
        "escapes": struct.pack("<Q", len(with_escapes)) + with_escapes + bytes(8),
        "truncated": safetensors(small)[:-3],
        "nested": struct.pack("<Q", 20) + b'{"a":{"b":[[[[1]]]]}',
    }


def attention_tensors(prefix, parts, dtype=("F32", floats)):
    """Returns the tensors of an attention with 2 features: projections of queries (2 rows), keys and values (1 row
    each), and the output projection."""
    name, values = dtype
    tensors = []
    for part, shape in parts:
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        tensors.append((prefix + part, name, shape, values(count)))
    return tensors


PYTORCH = [("in_proj_weight", [4, 2]), ("in_proj_bias", [4]), ("out_proj.weight", [2, 2]), ("out_proj.bias", [2])]
BERT = [
    (f"{part}.{kind}", [rows, 2] if kind == "weight" else [rows])
    for part, rows in (("self.query", 2), ("self.key", 1), ("self.value", 1), ("output.dense", 2))
    for kind in ("weight", "bias")
]
LLAMA = [(f"{part}_proj.weight", [rows, 2]) for part, rows in (("q", 2), ("k", 1), ("v", 1), ("o", 2))]
JOINED = "in_proj_weight 2+1+1 2\nin_proj_bias 2+1+1\nout_proj_weight 2 2\nout_proj_bias 2\n"
SEPARATE = "query_proj_weight 2 2\nkey_proj_weight 1 2\nvalue_proj_weight 1 2\nout_proj_weight 2 2\n"
INT8 = "in_proj_weight 2+1+1 2 int8\nin_proj_bias 2+1+1\nout_proj_weight 2 2 int8\nout_proj_bias 2\n"
BFLOAT16 = INT8.replace("int8", "bfloat16")
STACK = (
    "layers.0.attention.query_proj_weight 2 2\nlayers.0.linear1_weight 3 2\nlayers.1.norm1_weight 2\nnorm_weight 2\n"
)


def seeds_of_weights():
    def packed(prefix, spec, tensors):
        return f"{prefix}\n{spec}\n".encode() + safetensors(tensors)

    stack = [
        ("model.layers.0.self_attn.q_proj.weight", "F32", [2, 2], floats(4)),
        ("model.layers.0.mlp.up_proj.weight", "BF16", [3, 2], brain_floats(6)),
        ("model.layers.1.input_layernorm.weight", "F32", [2], floats(2)),
        ("model.norm.weight", "F16", [2], halves(2)),
    ]
    int8 = [
        ("in_proj_weight", "I8", [4, 2], bytes(range(124, 132))),
        ("in_proj_weight_scale", "F32", [4, 1], floats(4, 1)),
        ("in_proj_bias", "F32", [4], floats(4)),
        ("out_proj.weight", "I8", [2, 2], bytes(range(4))),
        ("out_proj.weight_scale", "F32", [2], floats(2, 1)),
        ("out_proj.bias", "F32", [2], floats(2)),
    ]
    return {
        "pytorch": packed("", JOINED, attention_tensors("", PYTORCH)),
        "pytorch_f16": packed("a", JOINED, attention_tensors("a.", PYTORCH, ("F16", halves))),
        "bert_joined": packed("attention", JOINED, attention_tensors("attention.", BERT)),
        "llama_separate": packed("x.0", SEPARATE, attention_tensors("x.0.", LLAMA, ("BF16", brain_floats))),
        "taken_apart": packed("", SEPARATE, attention_tensors("", PYTORCH)),
        "int8": packed("", INT8, int8),
        "int8_of_floats": packed("attention", INT8, attention_tensors("attention.", BERT)),
        "rotated": packed("", "out_proj_weight 2 8 int8 rotated\n", [("out_proj.weight", "F32", [2, 8], floats(16))]),
        "bfloat16": packed("", BFLOAT16, attention_tensors("", PYTORCH)),
        "stack": packed("model.layers", STACK, stack),
        "wrong_prefix": packed("b", JOINED, attention_tensors("encoder.layer.0.", BERT)),
        "wrong_spec": packed("", "in_proj_weight 4 2\nlinear1_weight 2\nfoo 1\n", attention_tensors("", PYTORCH)),
    }


def seeds_of_convert():
    def seed(tensors, keep=0, embeddings=False, metadata=None):
        return bytes([keep << 1 | embeddings]) + safetensors(tensors, metadata)

    def values(*numbers):
        return struct.pack(f"<{len(numbers)}f", *numbers)

    linear = ("a.weight", "F32", [2, 3], values(127, -63.25, 1, 0.5, -1.27, 0))
    kinds = [
        ("a.0.q_proj.weight", "F16", [2, 2], halves(4)),
        ("a.1.in_proj_weight", "BF16", [3, 2], brain_floats(6)),
        ("embed.weight", "F32", [2, 2], floats(4)),
        ("head.weight", "F32", [2, 2], floats(4, 1.0)),
        ("norm.weight", "F32", [3], floats(3)),
        ("position", "I64", [1], bytes(8)),
        ("tied.weight", "F32", [2, 2], floats(4)),
    ]
    int8 = [("b.weight", "I8", [2, 2], b"\x80\x01\x02\x7f"), ("b.weight_scale", "F32", [2, 1], values(1, 0.5))]
    wrong_scale = [int8[0], ("b.weight_scale", "F32", [2], values(0, 1))]
    middles = ("weight", "F32", [1, 8], values(127, 0.5, 0.505, -0.505, 1.495, -2.5, 126.505, -126.495))
    tiny = ("weight", "F32", [4, 2], values(0, -0.0, 1e-45, -1e-38, 2e-36, 1e-37, 3.4e38, -1e38))
    limits = ("weight", "F32", [2, 3], values(3.3961773e38, -3.3961773e38, 1.00390625, 1.01171875, 5e-41, -4.6e-41))
    return {
        "small": seed([linear, ("a.bias", "F32", [2], floats(2))], metadata={"format": "pt"}),
        "kinds": seed(kinds),
        "embeddings": seed(kinds, embeddings=True),
        **{f"keep_{i}": seed(kinds, keep=i) for i in range(1, 5)},
        "between_two_integers": seed([middles]),
        "tiny_and_large": seed([tiny]),
        "bfloat16_limits": seed([limits]),
        "only_bfloat16": seed([("weight", "BF16", [3, 2], brain_floats(6))]),
        "no_elements": seed([linear, ("b.weight", "F32", [4, 0], b""), ("c.weight", "F16", [0, 2], b"")]),
        "int8_already": seed([*int8, linear]),
        "only_int8": seed(int8),
        "wrong_scale": seed([linear, *wrong_scale]),
        "name_is_taken": seed([linear, ("a.weight_scale", "F32", [1], floats(1))]),
        "infinite": seed([("weight", "F32", [1, 2], values(1, float("inf")))]),
        "not_a_number": seed([("weight", "F16", [1, 1], struct.pack("<e", float("nan")))]),
        "wrong_size": seed([("weight", "F32", [3, 2], floats(4))]),
        "escapes": seed([("\u001b[2J.weight", "F32", [1, 1], floats(1, 1.0))]),
        "long_name": seed([(1001 * "x" + ".weight", "F32", [1, 1], floats(1, 1.0))], keep=1),
    }


BROKEN_UTF8 = b"a\xff\xc3 \xe6\x9d\xf0\x9f\x98b\xed\xa0\x80"


def field(tag, value):
    """Returns a field of a protobuf message: an integer, or the bytes of a text, a list or a message."""
    if isinstance(value, int):
        return varint(tag << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(tag << 3 | 2) + varint(len(data)) + data


def varint(value):
    data = b""
    while value > 127:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def onnx_tensor(name, shape, more=None):
    count = 1
    for extent in shape:
        count *= extent
    text = field(1, b"".join(varint(extent) for extent in shape)) + field(2, 1) + field(8, name)
    return field(5, text + (field(9, floats(count)) if more is None else more))


def onnx_node(operation, inputs, outputs, name="", more=b""):
    text = b"".join(field(1, x) for x in inputs) + b"".join(field(2, x) for x in outputs)
    return field(1, text + field(3, name) + field(4, operation) + more)


def seeds_of_onnx():
    bias, matrix = onnx_tensor("q.bias", [3]), onnx_tensor("onnx::MatMul_1", [2, 3])
    product = onnx_node("MatMul", ["x", "onnx::MatMul_1"], ["p"], "/q/MatMul")
    gemm = onnx_node("Gemm", ["x", "q.weight", "q.bias"], ["y"], more=field(5, field(1, "transB") + field(3, 1)))
    transpose = onnx_node("Transpose", ["q.weight"], ["t"], more=field(5, field(1, "perm") + field(8, b"\x01\0")))
    external = (
        field(14, 1)
        + field(13, field(1, "location") + field(2, "data"))
        + field(13, field(1, "offset") + field(2, "4"))
    )
    norm = onnx_node("Sub", ["x", "mean"], ["a"]) + onnx_node("Div", ["a", "root"], ["b"])
    norm += onnx_node("Mul", ["b", "n.weight"], ["c"]) + onnx_node("Add", ["c", "n.bias"], ["y"])
    constant = onnx_node("Constant", [], ["n.weight"], more=field(5, field(1, "value") + onnx_tensor("", [2])))
    graphs = {
        "linear": bias + matrix + product + onnx_node("Add", ["p", "q.bias"], ["y"]),
        "gemm": bias + onnx_tensor("q.weight", [3, 2]) + gemm,
        "transpose": onnx_tensor("q.weight", [3, 2]) + transpose + onnx_node("MatMul", ["x", "t"], ["y"], "/q/MatMul"),
        "norm": constant + onnx_tensor("n.bias", [2]) + norm,
        "identity": bias + onnx_node("Identity", ["q.bias"], ["k.bias"]),
        "external": onnx_tensor("q.weight", [3, 2], external),
        "quantised": onnx_node("MatMulInteger", ["x", "w"], ["y"]),
    }
    return {name: field(1, 8) + field(7, graph) for name, graph in graphs.items()}


def seeds_of_stories_model():
    header = struct.pack("<7i", 64, 172, 5, 8, 4, 512, 512)

    def seed(fill, tokens, content):
        return bytes([len(tokens) << 1 | fill]) + struct.pack(f"<{len(tokens)}H", *tokens) + content

    small = struct.pack("<5f", 0.1, -0.2, 0.05, 0.0, 0.15)
    return {
        "one_call": seed(1, [1, 403, 7], header + small),
        "several_calls": seed(1, [1, 2, 3, 0x8004, 0x8005, 6, 511], header + small),
        "long_prompt": seed(1, list(range(1, 40)), header + small),
        "token_beyond": seed(1, [1, 512], header + small),
        "not_finite": seed(1, [1], header + struct.pack("<2f", float("nan"), 1)),
        "large": seed(1, [1, 2], header + struct.pack("<f", 3e38)),
        "truncated": seed(0, [1], header + small),
        "other_model": seed(1, [1], struct.pack("<7i", 288, 768, 6, 6, 6, 32000, 256) + small),
    }


def vocabulary(more):
    """Returns a vocabulary of 512 tokens in the format of llama2.c: three marks, 256 bytes, `more`, and pieces that
    occur in no text."""
    pieces = [("<unk>", 0.0), ("\n<s>\n", 0.0), ("\n</s>\n", 0.0)]
    pieces += [(f"<0x{byte:02X}>", 0.0) for byte in range(256)]
    pieces += more
    pieces += [(f"\x01{i:x}", -1000.0) for i in range(len(pieces), 512)]
    content = struct.pack("<i", 8)
    for piece, score in pieces:
        data = piece.encode()
        content += struct.pack("<fi", score, len(data)) + data
    return content


def seeds_of_stories_tokenizer():
    letters = [(c, 0.0) for c in " abcdehlortw.é"]
    joined = [("he", 3.0), ("ll", 2.0), (" h", 1.0), (" he", 4.0), ("llo", 5.0), ("éé", 1.0), ("th", -1e11)]
    content = vocabulary(letters + joined)

    def seed(text):
        data = text if isinstance(text, bytes) else text.encode()
        return bytes([len(data)]) + data + content

    return {
        "words": seed("hello the world. éé"),
        "bytes": seed(BROKEN_UTF8),
        "truncated": seed(" hell")[:-7],
    }


def seeds_of_date_text():
    texts = ["3rd of Feb, 2024", "2024-02-30", "  Monday 1 JANUARY 1999 ", "12/31/2000", "march on", "x" * 41, "", "é"]
    return {f"text_{i}": text.encode() for i, text in enumerate(texts)}


def random_seeds(sizes):
    """Returns inputs for a FuzzedDataProvider: zeros, and random bytes."""
    numbers = random.Random(1)
    return {"zeros": bytes(8)} | {f"random_{i}": numbers.randbytes(size) for i, size in enumerate(sizes)}


def seeds_of_wav():
    """Returns WAV files. The byte before each file chooses how many samples a call reads (fuzz_wav.cpp)."""

    def wav(coding, channels, rate, bits, data, chunks=b"", more=b""):
        frame = channels * bits // 8
        fmt = struct.pack("<HHIIHH", coding, channels, rate, rate * frame, frame, bits) + more
        content = b"WAVEfmt " + struct.pack("<I", len(fmt)) + fmt + chunks
        content += b"data" + struct.pack("<I", len(data)) + data
        return b"\x05RIFF" + struct.pack("<I", len(content)) + content

    pcm = struct.pack("<60h", *(1000 * (i % 9 - 4) for i in range(60)))
    extensible = struct.pack("<HHI", 22, 16, 3) + bytes.fromhex("0100000000001000800000aa00389b71")
    info = b"LIST" + struct.pack("<I", 16) + b"INFOISFT" + struct.pack("<I", 4) + b"tool"
    return {
        "pcm": wav(1, 1, 16000, 16, pcm),
        "stereo": wav(1, 2, 44100, 16, pcm),
        "slow": wav(1, 1, 63, 16, pcm[:6]),
        "fast": wav(1, 1, 4096000, 16, pcm),
        "float": wav(3, 1, 8000, 32, floats(40)),
        "double": wav(3, 1, 16000, 64, struct.pack("<9d", *(i / 9 for i in range(9)))),
        "not_a_number": wav(3, 1, 48000, 32, struct.pack("<3f", 0, float("nan"), 1)),
        "extensible": wav(0xFFFE, 2, 48000, 16, pcm, more=extensible),
        "other_chunks": wav(1, 1, 22050, 16, pcm, chunks=info),
        "bytes": wav(1, 1, 16000, 8, pcm),
        "mu_law": wav(7, 1, 8000, 8, pcm),
        "empty": wav(1, 1, 16000, 16, b""),
        "cut": wav(1, 1, 16000, 16, pcm)[:-7],
        "other_end": b"\x09RIFX"
        + struct.pack(">I", 44)
        + b"WAVEfmt "
        + struct.pack(">IHHIIHH", 16, 1, 1, 16000, 32000, 2, 16)
        + b"data"
        + struct.pack(">I4h", 8, 1, 2, 3, 4),
    }


def seeds_of_config():
    sizes = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2}
    sizes |= {"intermediate_size": 48, "max_position_embeddings": 64}
    scaling = {"factor": 8.0, "rope_theta": 5e5, "original_max_position_embeddings": 16}
    gemma = sizes | {"model_type": "gemma3_text", "sliding_window": 5, "head_dim": 16, "query_pre_attn_scalar": 24}
    models = {
        "bert": sizes | {"model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": 1e-12, "is_decoder": False},
        "llama3": sizes | {"model_type": "llama", "rope_parameters": scaling | {"rope_type": "llama3"}},
        "yarn": sizes | {"model_type": "qwen3", "rope_scaling": scaling | {"type": "yarn", "mscale": 0.7}},
        "longrope": sizes
        | {
            "model_type": "phi3",
            "original_max_position_embeddings": 32,
            "rope_scaling": {"type": "longrope", "short_factor": [1, 1.5, 2, 3], "long_factor": [1, 2, 4, 8]},
        },
        "gemma3": gemma | {"layer_types": ["sliding_attention"] * 3 + ["full_attention"]},
        "gemma3_images": {"model_type": "gemma3", "text_config": gemma, "vision_config": {}},
        "gpt_neo": {"model_type": "gpt_neo", "num_layers": 4, "attention_types": [[["global", "local"], 2]]},
        "dinov2": sizes | {"model_type": "dinov2", "mlp_ratio": 2.5, "image_size": [28, 42], "patch_size": 14},
        "t5": {"model_type": "t5", "d_model": 32, "d_kv": 8, "num_heads": 4, "feed_forward_proj": "gated-gelu"},
        "falcon": {"model_type": "falcon", "new_decoder_architecture": True, "num_kv_heads": 1, "activation": "relu"},
        "lfm2": sizes | {"model_type": "lfm2", "block_ffn_dim_multiplier": 1.5, "full_attn_idxs": [0, 1, 2, 3]},
        "unknown": {"model_type": "lama"},
    }
    return {name: json.dumps(config).encode() for name, config in models.items()}


def seeds_of_shard_index():
    maps = {
        "small": {"a": "one", "b": "two", "c": "two"},
        "wrong_shard": {"a": "two", "b": "two", "c": "one"},
        "missing": {"a": "one", "d": "three"},
        "parent": {"a": "../one"},
        "incomplete": {"a": "one", "b": "two"},
    }
    return {name: json.dumps({"metadata": {"total_size": 3}, "weight_map": map}).encode() for name, map in maps.items()}


SEEDS = {
    "config": seeds_of_config(),
    "shard_index": seeds_of_shard_index(),
    "onnx": seeds_of_onnx(),
    "safetensors": seeds_of_safetensors(),
    "weights": seeds_of_weights(),
    "convert": seeds_of_convert(),
    "kernel_weights": random_seeds([64] * 6),
    "stories_model": seeds_of_stories_model(),
    "stories_tokenizer": seeds_of_stories_tokenizer(),
    "sampler": random_seeds([40, 200, 800]),
    "date_text": seeds_of_date_text(),
    "wav": seeds_of_wav(),
    "attention": random_seeds([64] * 24),
    "deterministic": random_seeds([64] * 8),
}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "seeds"
    for target, seeds in SEEDS.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, content in seeds.items():
            (folder / target / name).write_bytes(content)


if __name__ == "__main__":
    main()
