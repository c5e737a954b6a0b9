"""A language model with the sizes of SmolLM2-135M and random weights: writes its files for Ladon and for llama.cpp, and
computes its logits in float64."""

import json
import pathlib

import gguf
import numpy as np

from ladon_bench.paths import BENCH

CONFIG = json.loads((BENCH / "llama/model/config.json").read_text())
LAYERS, WIDTH, VOCABULARY = CONFIG["num_hidden_layers"], CONFIG["hidden_size"], CONFIG["vocab_size"]
HEADS, KV_HEADS, HIDDEN = CONFIG["num_attention_heads"], CONFIG["num_key_value_heads"], CONFIG["intermediate_size"]
HEAD_WIDTH = WIDTH // HEADS
TYPES = {"8 bits": gguf.GGMLQuantizationType.Q8_0, "4 bits": gguf.GGMLQuantizationType.Q4_0}
TOKENS = "model.embed_tokens.weight"

# The linear maps of a layer: names in the file for Ladon, names in GGUF, outputs, and inputs.
MAPS = {"self_attn.q_proj": ("attn_q", WIDTH, WIDTH), "self_attn.k_proj": ("attn_k", KV_HEADS * HEAD_WIDTH, WIDTH),
        "self_attn.v_proj": ("attn_v", KV_HEADS * HEAD_WIDTH, WIDTH), "self_attn.o_proj": ("attn_output", WIDTH, WIDTH),
        "mlp.gate_proj": ("ffn_gate", HIDDEN, WIDTH), "mlp.up_proj": ("ffn_up", HIDDEN, WIDTH),
        "mlp.down_proj": ("ffn_down", WIDTH, HIDDEN)}
NORMS = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


def layer(i, name):
    return f"model.layers.{i}.{name}.weight"


def random_weights():
    """Returns {name: float32 array}. The linear maps that end in the residual stream have smaller weights."""
    random = np.random.default_rng(1)
    numbers = lambda rows, columns, scale: random.standard_normal((rows, columns), np.float32) * np.float32(scale)
    weights = {TOKENS: numbers(VOCABULARY, WIDTH, 0.05), "model.norm.weight": np.ones(WIDTH, np.float32)}
    for i in range(LAYERS):
        for name in NORMS:
            weights[layer(i, name)] = np.ones(WIDTH, np.float32)
        for name, (_, outputs, inputs) in MAPS.items():
            ends = name in ("self_attn.o_proj", "mlp.down_proj")
            weights[layer(i, name)] = numbers(outputs, inputs, (0.3 if ends else 1) * inputs**-0.5)
    return weights


def write_safetensors(weights, path):
    about, offset = {}, 0
    for name, array in weights.items():
        about[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    header = json.dumps(about).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for array in weights.values():
            array.tofile(file)


def interleaved(rows, heads):
    """Returns the rows of queries or keys in the order of llama.cpp, which rotates neighbouring features."""
    return rows.reshape(heads, 2, HEAD_WIDTH // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def write_gguf(weights, path, bits):
    """All matrices, also the table of tokens, have the type of `bits`."""
    writer = gguf.GGUFWriter(path, "llama")
    for key, value in {"context_length": CONFIG["max_position_embeddings"], "embedding_length": WIDTH,
                       "block_count": LAYERS, "feed_forward_length": HIDDEN, "head_count": HEADS,
                       "head_count_kv": KV_HEADS, "layer_norm_rms_eps": CONFIG["rms_norm_eps"],
                       "rope_freq_base": CONFIG["rope_theta"], "rope_dimension_count": HEAD_WIDTH,
                       "vocab_size": VOCABULARY, "tokenizer_model": "no_vocab"}.items():
        getattr(writer, f"add_{key}")(value)
    matrix = lambda name, rows: writer.add_tensor(
        f"{name}.weight", gguf.quants.quantize(np.ascontiguousarray(rows), TYPES[bits]), raw_dtype=TYPES[bits])
    matrix("token_embd", weights[TOKENS])
    writer.add_tensor("output_norm.weight", weights["model.norm.weight"])
    for i in range(LAYERS):
        for name, theirs in NORMS.items():
            writer.add_tensor(f"blk.{i}.{theirs}.weight", weights[layer(i, name)])
        for name, (theirs, _, _) in MAPS.items():
            rows = weights[layer(i, name)]
            heads = {"attn_q": HEADS, "attn_k": KV_HEADS}.get(theirs)
            matrix(f"blk.{i}.{theirs}", interleaved(rows, heads) if heads else rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def prepared(folder):
    """Writes the files of the model into the folder, if they are not there, and returns the weights."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights, complete = random_weights(), folder / "complete"
    if not complete.exists():
        (folder / "config.json").write_text(json.dumps(CONFIG))
        write_safetensors(weights, folder / "model.safetensors")
        for bits in TYPES:
            write_gguf(weights, gguf_of(folder, bits), bits)
        complete.touch()
    return weights


def gguf_of(folder, bits):
    return pathlib.Path(folder) / f"{TYPES[bits].name.lower()}.gguf"


def normed(x):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + CONFIG["rms_norm_eps"])


def rotated(x):
    """Rotates the heads x [heads][tokens][head width]: feature i with feature i + half."""
    half = HEAD_WIDTH // 2
    angles = np.arange(x.shape[1])[:, None] * CONFIG["rope_theta"] ** (-np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], axis=-1)


def attention(x, weight):
    heads = lambda name, count: (x @ weight(name).T).reshape(len(x), count, HEAD_WIDTH).swapaxes(0, 1)
    q, k = rotated(heads("self_attn.q_proj", HEADS)), rotated(heads("self_attn.k_proj", KV_HEADS))
    k, v = (np.repeat(each, HEADS // KV_HEADS, axis=0) for each in (k, heads("self_attn.v_proj", KV_HEADS)))
    scores = q @ k.swapaxes(1, 2) * HEAD_WIDTH**-0.5 + np.triu(np.full((len(x), len(x)), -np.inf), 1)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return (shares @ v).swapaxes(0, 1).reshape(len(x), WIDTH) @ weight("self_attn.o_proj").T


def expected(weights, ids):
    """Returns the logits of the token that follows the ids, in float64."""
    x = weights[TOKENS][ids].astype(np.float64)
    for i in range(LAYERS):
        weight = lambda name: weights[layer(i, name)].astype(np.float64)
        x = x + attention(normed(x), weight)
        given = normed(x)
        gate = given @ weight("mlp.gate_proj").T
        x = x + (gate / (1 + np.exp(-gate)) * (given @ weight("mlp.up_proj").T)) @ weight("mlp.down_proj").T
    return weights[TOKENS].astype(np.float64) @ normed(x[-1])
