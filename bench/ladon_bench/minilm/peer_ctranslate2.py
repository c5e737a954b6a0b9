"""Runs the encoder of MiniLM in CTranslate2, which chooses MKL or oneDNN for its products. numpy computes the unit
vector from the last hidden states. CTranslate2 quantises linear layers with a scale for each output, and their inputs
at run time with a scale for each token."""

import tempfile

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerEncoderModelSpec, common_spec, transformer_spec

from ladon_bench.minilm.model import EPSILON, HEADS, LAYERS
from ladon_bench.minilm.serving import serve


def put(spec, pair, names=("weight", "bias")):
    for name, part in zip(names, pair):
        setattr(spec, name, np.ascontiguousarray(part))


def put_norm(spec, pair):
    put(spec, pair, ("gamma", "beta"))


def model_of(weights):
    encoder = transformer_spec.TransformerEncoderSpec(LAYERS, HEADS, pre_norm=False, layernorm_embedding=True,
                                                      activation=common_spec.Activation.GELU)
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = np.ascontiguousarray(weights.word)
    encoder.position_encodings.encodings = np.ascontiguousarray(weights.place)
    put_norm(encoder.layernorm_embedding, weights.embedding_norm)
    for spec, layer in zip(encoder.layer, weights.layers):
        joined = [np.concatenate([layer[name][i] for name in ("query", "key", "value")]) for i in range(2)]
        put(spec.self_attention.linear[0], joined)
        put(spec.self_attention.linear[1], layer["output"])
        put_norm(spec.self_attention.layer_norm, layer["norm1"])
        put(spec.ffn.linear_0, layer["linear1"])
        put(spec.ffn.linear_1, layer["linear2"])
        put_norm(spec.ffn.layer_norm, layer["norm2"])
    model = TransformerEncoderModelSpec(encoder)
    model.register_vocabulary([f"token{i}" for i in range(len(weights.word))])  # calls give ids, so any names will do
    model.config.unk_token = "token0"
    model.config.layer_norm_epsilon = EPSILON
    model.validate()
    return model


def build(case, form):
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        model_of(case.weights).save(folder)
        encoder = ctranslate2.Encoder(folder, device="cpu", compute_type=form, intra_threads=1, inter_threads=1)

    def call(ids):
        counts = case.mask.sum(1) if case.together else [ids.shape[1]] * len(ids)
        output = encoder.forward_batch(ctranslate2.StorageView.from_array(ids.astype(np.int32)),
                                       ctranslate2.StorageView.from_array(np.array(counts, dtype=np.int32)))
        hidden = np.array(output.last_hidden_state)
        total = (hidden * case.mask[:, :, None] if case.together else hidden).sum(1)
        return total / np.linalg.norm(total, axis=1, keepdims=True)

    return lambda: [call(ids) for ids in case.calls]


supported = ctranslate2.get_supported_compute_types("cpu")  # bfloat16 depends on the processor
serve("CTranslate2", {"ctranslate2": ctranslate2.__version__},
      {precision: [precision] for precision in ("float32", "bfloat16", "int8") if precision in supported}, build)
