# SPDX-License-Identifier: Apache-2.0
"""Makes tiny models with random weights, and records the hidden states around their layers.

    python make_vectors.py OUT [--sizes tiny|small|other] [FAMILY ...]

Needs torch 2.15 and transformers 5.24 (pip install torch==2.15.0 transformers==5.24.0 safetensors). CI does not run
this script. README.md describes the files of OUT/FAMILY. No published weights are used.
"""
import argparse
import copy
import os
import pathlib

os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

import torch
import transformers
from safetensors.torch import save_file
from transformers.pytorch_utils import Conv1D

SIZES = {
    "tiny": dict(tokens=11, model=48, heads=6, groups=3, feed_forward=40, vocabulary=24, window=3, image=12),
    "small": dict(tokens=13, model=32, heads=4, groups=2, feed_forward=48, vocabulary=40, window=5, image=16),
    "other": dict(tokens=18, model=48, heads=6, groups=3, feed_forward=80, vocabulary=40, window=7, image=20),
}
SPECIAL = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)

# The names that configurations have for the sizes.
NAMES = {
    "bert": dict(hidden_size="model", num_hidden_layers=2, num_attention_heads="heads", vocab_size="vocabulary",
                 intermediate_size="feed_forward", max_position_embeddings=64),
    "gpt": dict(n_embd="model", n_layer=2, n_head="heads", vocab_size="vocabulary", n_inner="feed_forward",
                n_positions=64),
    "bart": dict(d_model="model", encoder_layers=2, decoder_layers=2, encoder_attention_heads="heads",
                 decoder_attention_heads="heads", encoder_ffn_dim="feed_forward", decoder_ffn_dim="feed_forward",
                 vocab_size="vocabulary", max_position_embeddings=64, decoder_start_token_id=2, **SPECIAL),
    "t5": dict(d_model="model", d_kv=12, d_ff="feed_forward", num_layers=2, num_heads="heads", vocab_size="vocabulary",
               relative_attention_num_buckets=8, relative_attention_max_distance=16),
    "patch": dict(num_input_channels=1, context_length=52, patch_length=4, patch_stride=4, num_hidden_layers=2,
                  d_model="model", num_attention_heads="heads", ffn_dim="feed_forward"),
    "none": {},
}
NAMES["llama"] = NAMES["bert"] | dict(num_key_value_heads="groups")
NAMES["wide"] = NAMES["llama"] | dict(head_dim=16)
NAMES["narrow"] = NAMES["llama"] | dict(head_dim=8)
NAMES["vit"] = dict(hidden_size="model", num_hidden_layers=2, num_attention_heads="heads",
                    intermediate_size="feed_forward", image_size="image", patch_size=4)
NAMES["dino"] = {name: size for name, size in NAMES["vit"].items() if name != "intermediate_size"} | dict(mlp_ratio=2)
NAMES["wave"] = NAMES["bert"] | dict(conv_dim=(16, 16), conv_stride=(5, 4), conv_kernel=(10, 8),
                                     num_feat_extract_layers=2, num_conv_pos_embeddings=4,
                                     num_conv_pos_embedding_groups=2)
del NAMES["wave"]["max_position_embeddings"]

# The inputs of a call.
INPUTS = {
    "text": lambda s: {"input_ids": torch.randint(3, s["vocabulary"], (1, s["tokens"]))},
    "texts": lambda s: {"input_ids": torch.randint(3, s["vocabulary"], (1, s["tokens"] - 2)),
                        "decoder_input_ids": torch.randint(3, s["vocabulary"], (1, s["tokens"]))},
    "image": lambda s: {"pixel_values": torch.randn(1, 3, s["image"], s["image"])},
    "video": lambda s: {"pixel_values": torch.randn(1, 2, 3, s["image"], s["image"])},
    "sound": lambda s: {"input_values": torch.randn(1, 270)},
    "spectrum": lambda s: {"input_values": torch.randn(1, s["image"], 8)},
    "speech": lambda s: {"input_features": torch.randn(1, 8, 22),
                         "decoder_input_ids": torch.randint(3, s["vocabulary"], (1, s["tokens"]))},
    "speech_sound": lambda s: {"input_values": torch.randn(1, 6000),
                               "decoder_input_ids": torch.randint(3, s["vocabulary"], (1, s["tokens"]))},
    "series": lambda s: {"past_values": torch.randn(1, 52, 1)},
    "timesfm": lambda s: {"past_values": torch.randn(1, 52), "freq": torch.zeros(1, 1, dtype=torch.long),
                          "past_values_padding": torch.zeros(1, 52, dtype=torch.long)},
}

# Family: class (without Model and Config), sizes, path of the layers, inputs, and the other members of the
# configuration. A text among them that names a size stands for the size.
ENCODER, BOTH = "encoder.layer", "encoder.layers,decoder.layers"
BERT_LIKE = dict(bert="Bert", roberta="Roberta", xlm_roberta="XLMRoberta", camembert="Camembert", ernie="Ernie",
                 mpnet="MPNet")
FAMILIES = {name: (kind, "bert", ENCODER, "text", {}) for name, kind in BERT_LIKE.items()}
FAMILIES |= {
    "electra": ("Electra", "bert", ENCODER, "text", dict(embedding_size=16)),
    "distilbert": ("DistilBert", "none", "transformer.layer", "text",
                   dict(vocab_size="vocabulary", dim="model", n_layers=2, n_heads="heads", hidden_dim="feed_forward",
                        max_position_embeddings=64)),
    "albert": ("Albert", "bert", "encoder.albert_layer_groups.0.albert_layers", "text", dict(embedding_size=16)),
    "deberta_v2": ("DebertaV2", "bert", ENCODER, "text",
                   dict(relative_attention=True, position_buckets=8, norm_rel_ebd="layer_norm", share_att_key=True,
                        pos_att_type=["p2c", "c2p"], position_biased_input=False)),
    "modernbert": ("ModernBert", "bert", "layers", "text",
                   dict(num_hidden_layers=4, local_attention=6, cls_token_id=1, sep_token_id=2, **SPECIAL)),
    "nomic_bert": ("NomicBert", "bert", "layers", "text", {}),
    "esm": ("Esm", "bert", ENCODER, "text",
            dict(position_embedding_type="rotary", emb_layer_norm_before=False, token_dropout=False, pad_token_id=1,
                 mask_token_id=2)),
    "eurobert": ("EuroBert", "llama", "layers", "text", dict(mask_token_id=2, **SPECIAL)),
    "gte": ("Gte", "bert", "layers", "text", {}),
    "gpt2": ("GPT2", "gpt", "h", "text", {}),
    "gpt_bigcode": ("GPTBigCode", "gpt", "h", "text", {}),
    "gptj": ("GPTJ", "gpt", "h", "text", dict(rotary_dim=4)),
    # The rows of a head are in one of CodeGen's four blocks only if the number of heads is a multiple of 4.
    "codegen": ("CodeGen", "gpt", "h", "text", dict(rotary_dim=4, n_head=4)),
    "openai_gpt": ("OpenAIGPT", "gpt", "h", "text", {}),
    "gpt_neo": ("GPTNeo", "none", "h", "text",
                dict(vocab_size="vocabulary", hidden_size="model", num_layers=2, num_heads="heads",
                     intermediate_size="feed_forward", window_size="window", max_position_embeddings=64,
                     attention_types=[[["global", "local"], 1]])),
    "gpt_neox": ("GPTNeoX", "bert", "layers", "text", {}),
    "gpt_neox_serial": ("GPTNeoX", "bert", "layers", "text", dict(use_parallel_residual=False)),
    "opt": ("OPT", "none", "decoder.layers", "text",
            dict(vocab_size="vocabulary", hidden_size="model", num_hidden_layers=2, ffn_dim="feed_forward",
                 num_attention_heads="heads", max_position_embeddings=64, word_embed_proj_dim="model")),
    "xglm": ("XGLM", "none", "layers", "text",
             dict(vocab_size="vocabulary", d_model="model", num_layers=2, attention_heads="heads",
                  ffn_dim="feed_forward", max_position_embeddings=64)),
    "biogpt": ("BioGpt", "bert", "layers", "text", {}),
    "bloom": ("Bloom", "none", "h", "text",
              dict(vocab_size="vocabulary", hidden_size="model", n_layer=2, n_head="heads")),
    "falcon7": ("Falcon", "bert", "h", "text", dict(ffn_hidden_size="feed_forward")),
    "falcon40": ("Falcon", "bert", "h", "text",
                 dict(num_kv_heads="groups", ffn_hidden_size="feed_forward", new_decoder_architecture=True)),
    "llama": ("Llama", "llama", "layers", "text", {}),
    "llama3_rope": ("Llama", "llama", "layers", "text",
                    dict(rope_parameters=dict(rope_type="llama3", rope_theta=50.0, factor=8.0, low_freq_factor=1.0,
                                              high_freq_factor=4.0, original_max_position_embeddings=16))),
    "mistral": ("Mistral", "llama", "layers", "text", dict(sliding_window="window")),
    "mixtral": ("Mixtral", "llama", "layers", "text", dict(num_local_experts=4)),
    "qwen2": ("Qwen2", "llama", "layers", "text", {}),
    "qwen3": ("Qwen3", "wide", "layers", "text", {}),
    "gemma": ("Gemma", "wide", "layers", "text", {}),
    "gemma2": ("Gemma2", "wide", "layers", "text", dict(sliding_window="window", query_pre_attn_scalar=24)),
    "gemma3": ("Gemma3Text", "wide", "layers", "text",
               dict(sliding_window="window", query_pre_attn_scalar=24,
                    layer_types=["sliding_attention", "full_attention"])),
    "embedding_gemma": ("Gemma3Text", "wide", "layers", "text",
                        dict(sliding_window=6, query_pre_attn_scalar=24, use_bidirectional_attention=True,
                             layer_types=["sliding_attention", "full_attention"])),
    "phi": ("Phi", "bert", "layers", "text", {}),
    "phi3": ("Phi3", "llama", "layers", "text", dict(pad_token_id=0)),
    "olmo": ("Olmo", "llama", "layers", "text", {}),
    "olmo2": ("Olmo2", "llama", "layers", "text", {}),
    "cohere": ("Cohere", "llama", "layers", "text", {}),
    "granite": ("Granite", "llama", "layers", "text",
                dict(attention_multiplier=0.2, residual_multiplier=0.3, embedding_multiplier=6.0)),
    "smollm3": ("SmolLM3", "llama", "layers", "text", dict(no_rope_layers=[1, 0], **SPECIAL)),
    "gpt_oss": ("GptOss", "wide", "layers", "text",
                dict(sliding_window="window", num_local_experts=4, num_experts_per_tok=2)),
    "stablelm": ("StableLm", "llama", "layers", "text", dict(rope_pct=0.5)),
    "starcoder2": ("Starcoder2", "llama", "layers", "text", dict(sliding_window="window")),
    "nemotron": ("Nemotron", "llama", "layers", "text", {}),
    "persimmon": ("Persimmon", "bert", "layers", "text", {}),
    "glm": ("Glm", "narrow", "layers", "text", dict(pad_token_id=0, eos_token_id=2)),
    "glm4": ("Glm4", "narrow", "layers", "text", dict(pad_token_id=0, eos_token_id=2)),
    "ernie4_5": ("Ernie4_5", "narrow", "layers", "text", {}),
    "lfm2": ("Lfm2", "llama", "layers", "text",
             dict(layer_types=["full_attention", "full_attention"], block_auto_adjust_ff_dim=False)),
    "seed_oss": ("SeedOss", "narrow", "layers", "text", {}),
    "exaone4": ("Exaone4", "llama", "layers", "text", dict(sliding_window="window")),
    "nanochat": ("NanoChat", "llama", "layers", "text", {}),
    "arcee": ("Arcee", "llama", "layers", "text", {}),
    "apertus": ("Apertus", "llama", "layers", "text", dict(pad_token_id=0)),
    "helium": ("Helium", "narrow", "layers", "text", {}),
    "t5": ("T5", "t5", "encoder.block,decoder.block", "texts", {}),
    "t5_v1_1": ("T5", "t5", "encoder.block,decoder.block", "texts",
                dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "bart": ("Bart", "bart", BOTH, "texts", {}),
    "mbart": ("MBart", "bart", BOTH, "texts", {}),
    "marian": ("Marian", "bart", BOTH, "texts", dict(activation_function="swish", decoder_vocab_size="vocabulary")),
    "pegasus": ("Pegasus", "bart", BOTH, "texts", {}),
    "whisper": ("Whisper", "bart", BOTH, "speech",
                dict(num_mel_bins=8, max_source_positions=11, max_target_positions=64, max_position_embeddings=None)),
    "moonshine": ("Moonshine", "none", BOTH, "speech_sound",
                  dict(vocab_size="vocabulary", hidden_size="model", intermediate_size="feed_forward",
                       encoder_num_hidden_layers=2, decoder_num_hidden_layers=2, encoder_num_attention_heads=4,
                       decoder_num_attention_heads=4, partial_rotary_factor=0.5)),
    "t5gemma_encoder": ("T5GemmaEncoder", "wide", "layers", "text",
                        dict(sliding_window="window", query_pre_attn_scalar=24)),
    "t5gemma": ("T5Gemma", "wide", BOTH, "texts",
                dict(sliding_window="window", query_pre_attn_scalar=24)),
    "vit": ("ViT", "vit", "layers", "image", {}),
    "deit": ("DeiT", "vit", "layers", "image", {}),
    "beit": ("Beit", "vit", "layers", "image",
             dict(use_relative_position_bias=True, vocab_size="vocabulary", layer_scale_init_value=0.5)),
    "dinov2": ("Dinov2", "dino", ENCODER, "image", {}),
    "dinov2_swiglu": ("Dinov2", "dino", ENCODER, "image", dict(use_swiglu_ffn=True)),
    "dinov2_registers": ("Dinov2WithRegisters", "dino", ENCODER, "image", dict(num_register_tokens=2)),
    "dinov3": ("DINOv3ViT", "vit", "model.layer", "image", dict(num_register_tokens=2)),
    "clip_text": ("CLIPText", "bert", "encoder.layers", "text", SPECIAL),
    "clip_vision": ("CLIPVision", "vit", "encoder.layers", "image", {}),
    "siglip_text": ("SiglipText", "bert", "encoder.layers", "text", SPECIAL),
    "siglip_vision": ("SiglipVision", "vit", "encoder.layers", "image", {}),
    "videomae": ("VideoMAE", "vit", ENCODER, "video", dict(num_frames=2, tubelet_size=2)),
    "ast": ("AST", "bert", "layers", "spectrum",
            dict(patch_size=4, frequency_stride=4, time_stride=4, max_length="image", num_mel_bins=8)),
    "wav2vec2": ("Wav2Vec2", "wave", "encoder.layers", "sound", {}),
    "wav2vec2_stable": ("Wav2Vec2", "wave", "encoder.layers", "sound",
                        dict(do_stable_layer_norm=True, feat_extract_norm="layer")),
    "hubert": ("Hubert", "wave", "encoder.layers", "sound", {}),
    "wavlm": ("WavLM", "wave", "encoder.layers", "sound", dict(num_buckets=8, max_bucket_distance=16)),
    "patchtst": ("PatchTST", "patch", "encoder.layers", "series", dict(norm_type="layernorm")),
    "patchtst_batchnorm": ("PatchTST", "patch", "encoder.layers", "series", {}),
    "timesfm": ("TimesFm", "none", "layers", "timesfm",
                dict(patch_length=4, context_length=52, horizon_length=4, hidden_size="model",
                     intermediate_size="feed_forward", head_dim=8, num_hidden_layers=2,
                     num_attention_heads="heads")),
}
# Other configurations of these families.
# A table for 32 tokens has the angles of long texts, whose tokens are more than the original positions.
LLAMA_ROPE = dict(rope_theta=10000.0, original_max_position_embeddings=8)
FAMILIES |= {
    "llama_yarn": ("Llama", "llama", "layers", "text",
                   dict(rope_parameters=dict(rope_type="yarn", factor=4.0, **LLAMA_ROPE))),
    "llama_linear": ("Llama", "llama", "layers", "text",
                     dict(rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=4.0))),
    "llama_dynamic": ("Llama", "llama", "layers", "text",
                      dict(rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, factor=4.0))),
    "llama_biases": ("Llama", "llama", "layers", "text", dict(attention_bias=True, mlp_bias=True)),
    "phi3_longrope": ("Phi3", "narrow", "layers", "text",
                      dict(pad_token_id=0, original_max_position_embeddings=8,
                           rope_parameters=dict(rope_type="longrope", short_factor=[1.0, 1.1, 1.3, 1.7],
                                                long_factor=[1.5, 2.0, 3.0, 4.0], **LLAMA_ROPE))),
    "qwen2_windows": ("Qwen2", "llama", "layers", "text",
                      dict(use_sliding_window=True, sliding_window="window", max_window_layers=1)),
    "gemma3_linear": ("Gemma3Text", "wide", "layers", "text",
                      dict(sliding_window="window", query_pre_attn_scalar=24,
                           layer_types=["sliding_attention", "full_attention"],
                           rope_parameters=dict(
                               full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1000000.0),
                               sliding_attention=dict(rope_type="default", rope_theta=10000.0)))),
    "cohere_norms": ("Cohere", "llama", "layers", "text", dict(use_qk_norm=True)),
    "cohere2": ("Cohere2", "llama", "layers", "text",
                dict(sliding_window="window", layer_types=["sliding_attention", "full_attention"])),
    "olmo3": ("Olmo3", "llama", "layers", "text",
              dict(sliding_window="window", layer_types=["sliding_attention", "full_attention"])),
    "stablelm_parallel": ("StableLm", "llama", "layers", "text",
                          dict(use_parallel_residual=True, qk_layernorm=True)),
    "phi_norms": ("Phi", "bert", "layers", "text", dict(qk_layernorm=True)),
    "falcon_alibi": ("Falcon", "bert", "h", "text",
                     dict(ffn_hidden_size="feed_forward", alibi=True, parallel_attn=False, multi_query=False,
                          bias=True)),
    "opt_post": ("OPT", "none", "decoder.layers", "text",
                 dict(vocab_size="vocabulary", hidden_size="model", num_hidden_layers=2, ffn_dim="feed_forward",
                      num_attention_heads="heads", max_position_embeddings=64, word_embed_proj_dim=16,
                      do_layer_norm_before=False)),
    "bert_relu": ("Bert", "bert", ENCODER, "text", dict(hidden_act="relu")),
    "roformer": ("RoFormer", "bert", ENCODER, "text", dict(embedding_size="model")),
}
ATTENTIONS = ("self_attn", "attention.self", "attn.attention", "attn", "self_attention", "layer.0.SelfAttention",
              "attention")
CROSS_ATTENTIONS = ("encoder_attn", "layer.1.EncDecAttention")


def build(name, sizes, head=False):
    """Returns the model of a family, with random parameters. If `head`, the model has a head with the embeddings."""
    kind, names, _, _, other = FAMILIES[name]
    if head:
        other = other | dict(tie_word_embeddings=True)
    members = {key: sizes.get(value, value) if isinstance(value, str) else value
               for key, value in (NAMES[names] | other).items() if value is not None}
    if kind == "T5GemmaEncoder":
        part = transformers.T5GemmaModuleConfig(**members)
        model = transformers.T5GemmaEncoderModel(transformers.T5GemmaConfig(encoder=part, is_encoder_decoder=False))
        model = model.encoder
    elif kind == "T5Gemma":
        encoder, decoder = (transformers.T5GemmaModuleConfig(**members) for _ in range(2))
        model = transformers.T5GemmaModel(transformers.T5GemmaConfig(encoder=encoder, decoder=decoder))
    else:
        config = getattr(transformers, kind + "Config")(**members)
        with_head = {"GPT2": "GPT2LMHeadModel", "Gemma3Text": "Gemma3ForCausalLM"}.get(kind, kind + "ForCausalLM")
        model_class = getattr(transformers, with_head if head else kind + "Model")
        pooled = "add_pooling_layer" in model_class.__init__.__code__.co_varnames
        model = model_class(config, add_pooling_layer=False) if pooled else model_class(config)
    model.eval()
    model.set_attn_implementation("eager")
    randomise(model)
    return model


def randomise(model):
    """Gives every parameter random numbers. Products keep the scale of their input. Gains, biases and other vectors
    differ from their first values, which stay their means."""
    done = set()
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if id(parameter) in done:
                continue
            done.add(id(parameter))
            with torch.no_grad():
                if isinstance(module, torch.nn.Embedding):
                    parameter.normal_(0, 0.7)
                elif parameter.dim() < 2:
                    parameter.add_(0.3 * torch.randn_like(parameter))
                elif min(parameter.shape) == 1 or "norm" in name or "norm" in type(module).__name__.lower():
                    parameter.add_(0.3 * torch.randn_like(parameter))
                else:
                    inputs = parameter.shape[0] if isinstance(module, Conv1D) else parameter[0].numel()
                    parameter.normal_(0, inputs**-0.5)
        for name, buffer in module.named_buffers(recurse=False):
            if name == "running_mean":
                buffer.normal_(0, 0.3)
            elif name == "running_var":
                buffer.uniform_(0.5, 2)


def rows(tensor):
    """Returns a copy of the first item of a batch, as a matrix."""
    tensor = tensor.detach()
    while tensor.dim() > 2:
        tensor = tensor[0]
    return tensor.clone().float().contiguous()


def first_of(output):
    if isinstance(output, (tuple, list)):
        return output[0]
    return getattr(output, "last_hidden_state", output)


def find(module, paths):
    """Returns the first submodule that exists, or None."""
    for path in paths:
        try:
            return module.get_submodule(path)
        except AttributeError:
            pass
    return None


def record(model, paths, inputs):
    """Runs the model, and returns the hidden states around its layers and attentions."""
    found, hooks = {}, []

    def watch(module, name):
        def hook(module, args, kwargs, output):
            given = args[0] if args else kwargs.get("hidden_states", kwargs.get("hidden_state"))
            # A layer that is called several times has a number after its name (ALBERT).
            calls = sum(key.startswith(name + ".out") for key in found)
            end = f".{calls}" if calls else ""
            for key, value in ((".in", given), (".out", first_of(output))):
                if isinstance(value, torch.Tensor):
                    found[name + key + end] = rows(value)
            for key in ("encoder_hidden_states", "key_value_states"):
                if kwargs.get(key) is not None:
                    found["memory"] = rows(kwargs[key])
            mask = kwargs.get("attention_mask")
            if isinstance(mask, torch.Tensor) and mask.dim() == 4 and "layer." in name:
                found[name + ".mask"] = rows(mask)

        if module is not None:
            hooks.append(module.register_forward_hook(hook, with_kwargs=True))

    for path, beginning in zip(paths.split(","), ("", "decoder.")):
        for i, layer in enumerate(model.get_submodule(path)):
            watch(layer, f"{beginning}layer.{i}")
            watch(find(layer, ATTENTIONS), f"{beginning}attn.{i}")
            if beginning:
                watch(find(layer, CROSS_ATTENTIONS), f"{beginning}cross.{i}")
    with torch.no_grad():
        output = model(**inputs)
    for hook in hooks:
        hook.remove()
    found["last"] = rows(first_of(output))
    if "pixel_values" in inputs and getattr(output, "pooler_output", None) is not None:
        found["pooled"] = rows(output.pooler_output)
    if getattr(output, "encoder_last_hidden_state", None) is not None:
        found["encoder_last"] = rows(output.encoder_last_hidden_state)
        found.setdefault("memory", found["encoder_last"].clone())
    return found


def make(name, folder, sizes):
    torch.manual_seed(sum(map(ord, name)) + sizes["tokens"])
    model, inputs = build(name, sizes), INPUTS[FAMILIES[name][3]](sizes)
    found = record(model, FAMILIES[name][2], inputs)
    found |= {"given." + key: value.contiguous() for key, value in inputs.items()}
    model.save_pretrained(folder)
    save_file(found, folder / "io.safetensors")


def make_text(name, folder, sizes):
    """A prompt of 7 tokens, then 14 tokens one by one with the library's cache."""
    torch.manual_seed(7)
    model, states, inputs, tokens = build(name, sizes, head=True), [], [], []
    layer = model.base_model.get_submodule(FAMILIES[name][2])[0]
    layer.register_forward_hook(
        lambda module, args, kwargs, output: inputs.append(rows(args[0] if args else kwargs["hidden_states"])),
        with_kwargs=True)
    model.base_model.register_forward_hook(lambda module, args, output: states.append(rows(first_of(output))))
    given, past = torch.randint(3, sizes["vocabulary"], (1, 7)), None
    with torch.no_grad():
        for _ in range(15):
            answer = model(input_ids=given, past_key_values=past, use_cache=True)
            past, given = answer.past_key_values, answer.logits[:, -1:].argmax(-1)
            tokens.append(float(given))
    model.save_pretrained(folder)
    save_file({"x": torch.cat(inputs), "y": torch.cat(states), "tokens": torch.tensor([tokens])},
              folder / "io.safetensors")


def make_form(name, folder, sizes):
    """A small Llama in one of the forms that files have."""
    torch.manual_seed(11)
    model, inputs = build("llama", sizes), INPUTS["text"](sizes)
    if name == "sharded":
        model.save_pretrained(folder, max_shard_size="20KB")
    else:
        stored = copy.deepcopy(model).to(getattr(torch, name))
        stored.save_pretrained(folder)
        model.load_state_dict({key: value.float() for key, value in stored.state_dict().items()})
    found = record(model, "layers", inputs)
    save_file({key: found[key] for key in ("layer.0.in", "last")}, folder / "io.safetensors")


MAKERS = {name: (make, name) for name in FAMILIES}
MAKERS |= {"decode_" + name: (make_text, name) for name in ("llama", "gpt2", "qwen2", "mistral", "gemma3", "olmo2")}
MAKERS |= {"form_" + name: (make_form, name) for name in ("sharded", "float32", "bfloat16", "float16")}

# The folders of tests/data/families, which have the sizes `tiny`. Together they have all features of models, and the
# pooler of siglip_vision.
SELECTION = ("gpt2", "codegen", "gpt_neox", "gemma3", "olmo2", "cohere_norms", "t5", "beit", "modernbert", "apertus",
             "dinov3", "nanochat", "siglip_vision", "timesfm")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sizes", choices=SIZES, default="small")
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    arguments = parser.parse_args()
    for chosen in arguments.families or MAKERS:
        maker, family = MAKERS[chosen]
        maker(family, arguments.out / chosen, SIZES[arguments.sizes])
        print(chosen)
