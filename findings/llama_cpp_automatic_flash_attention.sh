#!/usr/bin/env bash
# llama.cpp of llama-cpp-python 0.3.36 on a CPU: by default, llama.cpp itself chooses flash attention for a llama with
# heads of 64 features and float16 keys and values. Behind 1024 tokens, a token then takes twice the time that it takes
# without flash attention, in one thread; the same token follows. Seen on an x86 processor with AVX-512 and g++ 12;
# others were not tried.
# Users who generate long texts on a CPU gain by flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED (-fa off). Prompts of
# 128 and 512 tokens take 7 to 13% less time with flash attention.
# Needs pip, CMake, a C++ compiler, and several minutes: pip compiles llama.cpp.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check llama-cpp-python==0.3.36 gguf==0.19.0 numpy

cat >decode.py <<'EOF'
import ctypes
import statistics
import time

import gguf
import llama_cpp
import numpy

layers, width, hidden, heads, kv_heads, words, depth, tokens = 8, 576, 1536, 9, 3, 1024, 1024, 16
random = numpy.random.default_rng(1)
writer = gguf.GGUFWriter("model.gguf", "llama")
for key, value in {
    "context_length": 2048, "embedding_length": width, "block_count": layers, "feed_forward_length": hidden,
    "head_count": heads, "head_count_kv": kv_heads, "layer_norm_rms_eps": 1e-5, "rope_freq_base": 1e4,
    "rope_dimension_count": 64, "vocab_size": words, "tokenizer_model": "no_vocab",
}.items():
    getattr(writer, "add_" + key)(value)
q8 = gguf.GGMLQuantizationType.Q8_0
numbers = lambda rows, columns: (random.standard_normal((rows, columns)) / columns**0.5).astype("float32")
matrix = lambda name, rows, columns: writer.add_tensor(
    name + ".weight", gguf.quants.quantize(numbers(rows, columns), q8), raw_dtype=q8)
norm = lambda name: writer.add_tensor(name + ".weight", numpy.ones(width, "float32"))
matrix("token_embd", words, width)
norm("output_norm")
for i in range(layers):
    for name, rows, columns in [("attn_q", width, width), ("attn_k", kv_heads * 64, width),
                                ("attn_v", kv_heads * 64, width), ("attn_output", width, width),
                                ("ffn_gate", hidden, width), ("ffn_up", hidden, width), ("ffn_down", width, hidden)]:
        matrix(f"blk.{i}.{name}", rows, columns)
    norm(f"blk.{i}.attn_norm")
    norm(f"blk.{i}.ffn_norm")
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()


@llama_cpp.llama_log_callback
def quiet(_level, _text, _data):
    pass


llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
model = llama_cpp.llama_model_load_from_file(b"model.gguf", llama_cpp.llama_model_default_params())


class Text:
    def __init__(self, flash_attention):
        options = llama_cpp.llama_context_default_params()
        if flash_attention is not None:
            options.flash_attn_type = flash_attention
        options.n_ctx = options.n_batch = 2048
        options.n_threads = options.n_threads_batch = 1
        self.context = llama_cpp.llama_init_from_model(model, options)
        self.decode([i * 7 % words for i in range(depth)], 0)

    def decode(self, ids, first):
        batch = llama_cpp.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, first + i, 1, 0
            batch.logits[i] = i + 1 == len(ids)
        assert llama_cpp.llama_decode(self.context, batch) == 0
        llama_cpp.llama_batch_free(batch)

    def seconds(self):
        llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(self.context), 0, depth, -1)
        start = time.perf_counter()
        for i in range(tokens):
            self.decode([i], depth + i)
        return time.perf_counter() - start

    def next(self):
        return int(numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, -1), (words,)).argmax())


default, without = Text(None), Text(llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED)
ratio = statistics.median(default.seconds() / without.seconds() for _ in range(15))
print(f"the default is {'slower' if ratio > 1.2 else 'as fast'} behind {depth} tokens")
print("the same token follows" if default.next() == without.next() else "another token follows")
EOF
venv/bin/python decode.py | tee output
# Output on 30 November 2026:
diff output - <<'EOF'
the default is slower behind 1024 tokens
the same token follows
EOF
