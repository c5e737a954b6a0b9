// SPDX-License-Identifier: Apache-2.0
#include "texts.hpp"

#include <algorithm>
#include <cmath>

namespace ladon::families {

float input_scale(const Stack& stack) {
  const std::vector<Step>& steps = stack.input.steps;
  const Lookup* table = steps.empty() ? nullptr : std::get_if<Lookup>(steps.data());
  return table == nullptr ? 1 : table->scale;
}

float root_of(std::size_t width) { return static_cast<float>(std::sqrt(static_cast<double>(width))); }

void read_tokens(Config& config, Stack& stack, const std::string& table, float scale, std::size_t features) {
  const std::size_t rows = config.size("", {"vocab_size"}, 0);
  if (features == 0) features = stack.model.model;
  stack.input.name = "input_ids";
  if (rows == 0) return stack.input.missing = "config.json: \"vocab_size\" is absent", void();
  stack.input.steps = {Lookup{table + ".weight", rows, features, scale}};
}

void add_positions(Stack& stack, const std::string& table, std::size_t first) {
  stack.input.steps.push_back(AddPositions{table + ".weight", stack.positions + first, first});
}

void read_types(Config& config, Stack& stack, const std::string& table, const char* key, std::size_t otherwise,
                const char* ids) {
  const std::size_t rows = config.size("", {key}, otherwise);
  if (rows != 0)
    stack.input.steps.push_back(AddRow{.table = table + ".weight", .rows = rows, .ids = rows == 1 ? "" : ids});
}

NormRows norm_of(const Stack& stack, const std::string& name) {
  return {name, stack.model.norm_kind, stack.model.norm_bias, stack.model.norm_gain, stack.epsilon};
}

LinearRows linear(const std::string& name, std::size_t outputs, After after, Bias bias) {
  return {name, outputs, bias, after};
}

bool is_class(const Config& config, std::initializer_list<const char*> ends) {
  const std::string name = class_of(config);
  return std::any_of(ends.begin(), ends.end(), [&](const char* end) { return name.ends_with(end); });
}

void add_language_head(const Description& description, Stack& stack, const CausalHead& head) {
  const std::vector<Step>& steps = stack.input.steps;
  const Lookup* table = steps.empty() ? nullptr : std::get_if<Lookup>(steps.data());
  if (table == nullptr) return;
  if (description.tied_embeddings) {
    stack.head.push_back(TiedHead{head.scale, head.bias});
  } else {
    stack.head.push_back(linear(head.name, table->rows, After::nothing, bias_if(!head.bias.empty())));
    if (head.scale != 1) stack.head.push_back(Scale{head.scale});
  }
  if (head.softcap > 0) stack.head.push_back(Softcap{head.softcap});
}

void read_causal_head(Config& config, Description& description, Stack& stack, const CausalHead& head) {
  description.tied_embeddings = config.flag("", {"tie_word_embeddings"}, head.tied);
  if (is_class(config, {"ForCausalLM", "LMHeadModel"})) {
    add_language_head(description, stack, head);
  } else if (is_class(config, {"ForSequenceClassification"})) {
    stack.head = {Pool{Pooling::last}, linear("score", labels(config), After::nothing, Bias::without)};
  } else if (is_class(config, {"ForTokenClassification"})) {
    stack.head = {linear(head.tokens, labels(config))};
    stack.head_of_rows = true;
  }
}

void read_encoder_heads(Config& config, Description& description, Stack& stack, const EncoderHeads& heads) {
  description.tied_embeddings = config.flag("", {"tie_word_embeddings"}, heads.tied);
  const auto classify = [&](const std::vector<Step>& before, const char* name) {
    stack.head = before;
    stack.head.push_back(linear(name, labels(config)));
  };
  const bool of_texts = is_class(config, {"ForSequenceClassification"});
  if (is_class(config, {"ForMaskedLM", "ForCausalLM", "LMHeadModel"})) {
    if (heads.decoder.empty()) return;
    stack.head_of_rows = is_class(config, {"ForMaskedLM"});
    stack.head = heads.transform;
    return add_language_head(description, stack, {.name = heads.decoder, .bias = heads.bias});
  }
  if (is_class(config, {"ForQuestionAnswering"})) return;
  if (is_class(config, {"ForTokenClassification"})) {
    stack.head_of_rows = true;
    return classify(heads.before_tokens, "classifier");
  }
  if (of_texts) classify(heads.before, heads.classifier);
  if (*heads.pooler != '\0' && !(of_texts && !heads.before.empty()))
    stack.pooler = {Pool{Pooling::first}, linear(heads.pooler, stack.model.model, After::tanh)};
}

std::optional<After> after_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return After::relu;
    case Activation::gelu:
      return After::gelu;
    case Activation::gelu_tanh:
      return After::gelu_tanh;
    case Activation::silu:
      return After::silu;
    default:
      return std::nullopt;
  }
}

}  // namespace ladon::families
