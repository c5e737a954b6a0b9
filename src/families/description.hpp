// SPDX-License-Identifier: Apache-2.0
// What a checkpoint's config.json says about a model: the layers of each stack, and how their weights are named.
#pragma once

#include <cstddef>
#include <filesystem>
#include <ladon/model.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ladon::families {

// The angles of a rotary embedding.
struct Rotary {
  double base = 10000;
};

// The table of buckets from which a bias for each distance is made, once for all layers (T5, MPNet).
struct RelativeBias {
  std::string tensor;  // the full name of the table [buckets][heads] in the checkpoint
  std::size_t buckets = 32;
  std::size_t max_distance = 128;
  bool both_sides = true;  // whether half of the buckets are for keys after the query
};

struct Stack {
  std::string name;             // "encoder" or "decoder": the stack's name in the model
  bool attends_memory = false;  // true: ladon::Decoder; false: ladon::Encoder, whose mask may be causal
  Model model;
  float epsilon = 1e-5f;       // of all norms
  std::vector<Rotary> rotary;  // one for each kind of layers, or one for all layers, or none without rotation
  std::optional<RelativeBias> relative_bias;
  // The names of the tensors. `convention` is a title in src/weights/checkpoint_names.cpp: BERT (bert, roberta,
  // xlm-roberta, camembert, ernie, electra), ALBERT, DistilBERT, MPNet, ESM, ModernBERT, Nomic BERT, GTE, ViT (vit,
  // deit, audio-spectrogram-transformer), DINOv2, DINOv3, BEiT, VideoMAE, CLIP (clip, siglip), Wav2Vec2 (wav2vec2,
  // hubert), PatchTST, TimesFM, Llama (llama, mistral, qwen2, qwen3, seed_oss, ernie4_5, helium, smollm3, gemma,
  // granite, stablelm, olmo, eurobert, cohere, nemotron, arcee, apertus, nanochat), Gemma 2 (gemma2, gemma3, t5gemma),
  // OLMo 2 (olmo2, exaone4), Phi-3 (phi3, glm), GLM 4, Phi, GPT-J, CodeGen, GPT-NeoX, Falcon, BLOOM, Persimmon, GPT-2
  // (gpt2, gpt_bigcode, openai-gpt), GPT-Neo, OPT (opt, xglm, biogpt), StarCoder2, LFM2, BART (bart, mbart, marian,
  // pegasus, whisper), T5, Moonshine.
  std::string convention;
  std::string prefix;               // the text before the number of a layer, without the last dot: "encoder.layer"
  std::string final_norm;           // the full name of the last norm, without ".weight"; empty without such a norm
  std::size_t sets_of_weights = 0;  // if not 0, layer i has the weights number i * sets_of_weights / layers (ALBERT)
  // The key in config.json that determines a member of `model`, by the member's name. Other members follow from
  // model_type.
  std::map<std::string, std::string> keys;
};

struct Description {
  std::string model_type;
  std::vector<Stack> stacks;         // encoder before decoder
  bool tied_embeddings = false;      // the output head is the table of embeddings
  std::vector<std::string> outside;  // what the model computes before, between and after its stacks
};

// Reads the config.json of `folder`. `tokens` is the member of each stack's Model; if 0, the largest number of tokens
// in config.json. Throws safetensors::Error, which names the key in config.json of the first feature that Ladon lacks.
Description describe(const std::filesystem::path& folder, std::size_t tokens = 0);

}  // namespace ladon::families
