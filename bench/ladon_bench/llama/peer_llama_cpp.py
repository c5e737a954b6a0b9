"""Runs the model in llama.cpp, which pip has compiled for this machine: Q8_0 and Q4_0, with and without its flash
attention. Keys and values are float16 numbers, as by default."""

import ctypes
import importlib.metadata

import llama_cpp
import numpy as np

from ladon_bench.llama.model import TYPES, VOCABULARY
from ladon_bench.llama.serving import serve

FORMS = {"plain attention": llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED,
         "flash attention": llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED}


@llama_cpp.llama_log_callback
def quiet(_level, _text, _data):
    pass


def batch_of(ids, first):
    batch = llama_cpp.llama_batch_init(len(ids), 0, 1)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, first + i, 1, 0
        batch.logits[i] = i + 1 == len(ids)
    return batch


def build(case, form):
    llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
    model = llama_cpp.llama_model_load_from_file(str(case.gguf).encode(), llama_cpp.llama_model_default_params())
    options = llama_cpp.llama_context_default_params()
    options.n_ctx = options.n_batch = 2048
    options.n_threads = options.n_threads_batch = 1
    options.flash_attn_type = FORMS[form]
    context = llama_cpp.llama_init_from_model(model, options)
    memory, ids = llama_cpp.llama_get_memory(context), [int(each) for each in case.ids]

    def decode(batch):
        if llama_cpp.llama_decode(context, batch) != 0:
            raise ValueError("llama_decode failed")
        llama_cpp.llama_synchronize(context)

    if case.depth > 0:
        decode(batch_of(ids[:case.depth], 0))
    parts = [ids[case.depth:]] if case.together else [[each] for each in ids[case.depth:]]
    batches = [batch_of(part, case.depth + (0 if case.together else i)) for i, part in enumerate(parts)]

    def compute():
        llama_cpp.llama_memory_seq_rm(memory, 0, case.depth, -1)
        for batch in batches:
            decode(batch)
        return [np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), (VOCABULARY,))]

    return compute


serve("llama.cpp", {"llama-cpp-python": importlib.metadata.version("llama-cpp-python")},
      {bits: list(FORMS) for bits in TYPES}, build)
