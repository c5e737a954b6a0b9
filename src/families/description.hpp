// SPDX-License-Identifier: Apache-2.0
// What a checkpoint's config.json says about a model: the layers of each stack, and how their weights are named.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <ladon/mask/relative.hpp>
#include <ladon/model.hpp>
#include <ladon/rotary_scaling.hpp>
#include <ladon/safetensors/file.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "steps.hpp"

namespace ladon::families {

using Tensors = std::map<std::string, safetensors::Tensor, std::less<>>;  // the tensors of a checkpoint

// The angles of a rotary embedding.
struct Rotary {
  RotaryScaling scaling{};        // its member `factors` is null
  std::vector<double> factors{};  // the factors of longrope
  // DINOv3: the table of an image of rows x columns patches behind `prefix` other tokens; without an image, 0.
  std::size_t prefix = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// The table of buckets from which a bias for each distance is made, once for all layers (T5, MPNet).
struct RelativeBias {
  std::string tensor;  // the full name of the table [buckets.count][heads] in the checkpoint
  RelativeBuckets buckets{};
};

struct Stack {
  std::string name;             // "encoder" or "decoder"; "text" or "vision" in a model with both
  bool attends_memory = false;  // true: ladon::Decoder; false: ladon::Encoder, whose mask may be causal
  Model model{};
  std::size_t positions = 0;     // the largest number of tokens, or 0 if config.json states none
  float epsilon = 1e-5f;         // of all norms
  std::vector<Rotary> rotary{};  // one for each kind of layers, or one for all layers, or none without rotation
  std::optional<RelativeBias> relative_bias{};
  // What the model computes outside the layers (steps.hpp).
  Input input{};
  std::vector<Step> behind{};       // from the stack's output to the last hidden state (OPT's project_out)
  std::vector<Step> pooler{};       // from the last hidden state to a pooled one, inside the base model
  std::vector<Step> head{};         // from there to the answer; the names of its tensors stand outside the wrapper
  bool head_of_rows = false;        // the head reads every row, as for a class of each token, and not the last one
  std::string prefix;               // the text before the number of a layer, without the last dot: "encoder.layer"
  std::string inside{};             // what the text before `prefix` contains: "language_model." in Gemma 3 of images
  std::string final_norm{};         // the full name of the last norm, without ".weight"; empty without such a norm
  std::size_t sets_of_weights = 0;  // if not 0, layer i has the weights number i * sets_of_weights / layers (ALBERT)
  // The key in config.json that determines a member of `model`, by the member's name. Other members follow from
  // model_type.
  std::map<std::string, std::string> keys{};
};

struct Description {
  std::string model_type;
  std::vector<Stack> stacks{};         // encoder before decoder
  bool tied_embeddings = false;        // the output head is the table of embeddings
  std::vector<std::string> outside{};  // what the model computes before, between and after its stacks
  std::string wrapper{};               // the text before names of checkpoints of the class in `architectures`: "bert."
};

// Returns the number by which the model multiplies its embeddings.
float input_scale(const Stack& stack);

// Returns the text before the names of a stack in a checkpoint with `tensors`, such as "" or "bert.". If no tensor
// belongs to layer 0 of the stack, returns description.wrapper.
std::string wrapper_of(const Description& description, const Stack& stack, const Tensors& tensors);

// Reads the config.json of `folder`. The names of stacks begin as in the folder's safetensors file. Without such a
// file, `architectures` in config.json decides. `tokens` is the member of each stack's Model. If `tokens` is 0, the
// member is the largest number of tokens in config.json, but at most 2048. Throws safetensors::Error, which names the
// key in config.json of the first feature that Ladon lacks.
Description describe(const std::filesystem::path& folder, std::size_t tokens = 0);

// Does the same with the tensors of another file.
Description describe(const std::filesystem::path& folder, std::size_t tokens, const Tensors& tensors);

// Does the same with the text of a config.json, but returns the names without their wrapper. `name` is the name of the
// text in errors.
Description describe_text(const std::string& text, const std::string& name, std::size_t tokens = 0);

}  // namespace ladon::families
