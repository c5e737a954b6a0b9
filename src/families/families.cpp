// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "edit_distance.hpp"
#include "safetensors.hpp"
#include "sentences.hpp"
#include "step_tensors.hpp"
#include "utf8.hpp"

namespace ladon::families {
namespace {

std::vector<Family> all_families() {
  std::vector<Family> all;
  for (const auto& list :
       {bert_like(), llama_like(), gemma_like(), gpt_like(), vision(), signals(), seq2seq(), own_model()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Returns names of families that resemble `name`, for a message.
std::string similar(const std::string& name) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const Family& family : all_families()) {
    const std::string_view other = family.model_type;
    const bool begins = name.starts_with(other) || other.starts_with(name);
    const std::size_t distance = begins ? 1 : files::edit_distance(name, other);
    if (distance <= 1 + name.size() / 3) near.emplace_back(distance, other);
  }
  std::sort(near.begin(), near.end());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 5); ++i)
    text += (i == 0 ? "" : ", ") + std::string(near[i].second);
  return text.empty() ? "" : ", such as " + text;
}

void refuse_experts(Config& config) {
  for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts"})
    if (config.size("", {key}, 0) > 1) config.refuse(key, "mixtures of experts are outside Ladon");
}

void refuse_quantisation(Config& config) {
  if (!config.has("quantization_config")) return;
  const std::string why =
      "Ladon reads int8 weights of compressed-tensors; take the model as it was before, and choose --precision";
  Config quantisation = config.inner("quantization_config");
  if (quantisation.text("", {"quant_method"}, "") != "compressed-tensors") quantisation.refuse("quant_method", why);
  const std::string format = quantisation.text("", {"format"}, "int-quantized");
  if (format != "int-quantized" && format != "naive-quantized" && format != "dense") quantisation.refuse("format", why);
}

// Returns whether the first of `architectures` is a class with a head, such as BertForMaskedLM or GPT2LMHeadModel. Such
// a class has the base model as a member.
bool has_head(const Config& config) {
  const std::string name = class_of(config);
  return name.find("For") != name.npos || name.find("Head") != name.npos || name.ends_with("MTModel");
}

Description describe_config(Config config) {
  refuse_experts(config);
  refuse_quantisation(config);
  Description description{.model_type = config.text("", {"model_type"}, "")};
  if (description.model_type.empty()) config.fail("model_type", "the name of a family");
  description.tied_embeddings = config.flag("", {"tie_word_embeddings"}, false);
  for (const Family& family : all_families()) {
    if (family.model_type != description.model_type) continue;
    family.read(config, description);
    if (has_head(config) && *family.base != '\0') description.wrapper = std::string(family.base) + '.';
    return description;
  }
  config.refuse("model_type", "Ladon does not know this family; docs/families.md lists the known ones" +
                                  similar(description.model_type));
}

// Returns the tensors of the folder's checkpoint, or none if the checkpoint is absent or wrong: config.json alone has a
// description, too.
Tensors tensors_in(const std::filesystem::path& folder) {
  try {
    return safetensors::File(folder).tensors();
  } catch (const safetensors::Error&) {
    return {};
  }
}

void add_wrapper(Stack& stack, const std::string& wrapper) {
  stack.prefix = wrapper + stack.prefix;
  if (!stack.final_norm.empty()) stack.final_norm = wrapper + stack.final_norm;
  if (stack.relative_bias) stack.relative_bias->tensor = wrapper + stack.relative_bias->tensor;
  for (std::vector<Step>* steps : {&stack.input.steps, &stack.behind, &stack.pooler}) add_prefix(*steps, wrapper);
}

}  // namespace

std::string wrapper_of(const Description& description, const Stack& stack, const Tensors& tensors) {
  const std::string layer = "." + stack.prefix + ".0.";
  std::optional<std::string> shortest;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t place = ("." + name).find(layer);
    if (place == name.npos || (shortest && place >= shortest->size())) continue;
    if (const std::string wrapper = name.substr(0, place); ("." + wrapper).find("." + stack.inside) != wrapper.npos)
      shortest = wrapper;
  }
  return shortest.value_or(description.wrapper + stack.inside);
}

Description describe_text(const std::string& text, const std::string& name, std::size_t tokens) {
  return describe_config({parse_json(text, name), name, tokens});
}

Description describe(const std::filesystem::path& folder, std::size_t tokens) {
  return describe(folder, tokens, tensors_in(folder));
}

Description describe(const std::filesystem::path& folder, std::size_t tokens, const Tensors& tensors) {
  const std::filesystem::path path = folder / "config.json";
  Description description = describe_config({read_json(path), files::utf8_of(path), tokens});
  for (Stack& stack : description.stacks) {
    add_wrapper(stack, wrapper_of(description, stack, tensors));
    if (!tensors.empty()) adapt(stack, tensors);
  }
  read_modules(folder, description);
  return description;
}

}  // namespace ladon::families
