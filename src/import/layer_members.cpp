// SPDX-License-Identifier: Apache-2.0
#include "layer_members.hpp"

#include <algorithm>
#include <cstdio>
#include <ladon/detail/vec/int4.hpp>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "find_tensors.hpp"
#include "problems.hpp"
#include "safetensors.hpp"
#include "spec.hpp"

namespace ladon::import {
namespace {

class Members {
 public:
  explicit Members(const Model& model) : model_(model), shape_(model.shape()) {
    is_in_out_ = model.layout == LayoutKind::in_out || model.layout == LayoutKind::in_proj_in_out;
  }

  void layer(const std::string& beginning, bool attends_memory) {
    const NormKind kind = model_.norm_kind;
    const NormKind last = model_.feed_forward_norm_kind == NormKind::same ? kind : model_.feed_forward_norm_kind;
    const bool both = model_.norm == NormOrder::both;
    if (attends_memory) attention(beginning + "self_attention.");
    attention(beginning + (attends_memory ? "cross_attention." : "attention."));
    if (model_.gated) linear(beginning + "gate", model_.feed_forward, model_.model, model_.bias);
    linear(beginning + "linear1", model_.feed_forward, model_.model, model_.bias);
    linear(beginning + "linear2", model_.model, model_.feed_forward, model_.bias);
    if (model_.activation == Activation::xielu) text += beginning + "activation 2\n";
    norm(beginning + "norm1", kind);
    if (attends_memory) norm(beginning + "norm2", kind), norm(beginning + "norm3", last);
    if (!attends_memory && model_.residual != Residual::parallel_one_norm) norm(beginning + "norm2", last);
    if (both) norm(beginning + "output_norm1", kind), norm(beginning + "output_norm2", attends_memory ? kind : last);
    if (both && attends_memory) norm(beginning + "output_norm3", last);
    if (model_.layer_scale)
      for (const char* scale : {"scale1 ", "scale2 "}) text += beginning + scale + number(model_.model) + "\n";
    if (model_.layer_bias)
      text += beginning + "attention_bias " + number(shape_.heads) + " " + number(shape_.queries * shape_.keys) + "\n";
  }
  void norm(const std::string& name, NormKind kind) { norm(name, model_.model, kind, model_.norm_bias); }

  std::string text{};

 private:
  static std::string number(std::size_t value) { return std::to_string(value); }

  // `order` are words behind the extents, and of a bias, too.
  void linear(const std::string& name, const std::string& rows, std::size_t inputs, Bias bias,
              const std::string& order = "") {
    constexpr const char* precisions[] = {"", " bfloat16", " int8", " int8 rotated", " int4", " int4 rotated"};
    text += name + "_weight " + rows + " " + number(inputs) + order + (is_in_out_ ? " in_out" : "") +
            precisions[static_cast<int>(model_.precision)] + "\n";
    if (bias == Bias::with) text += name + "_bias " + rows + order + "\n";
  }
  void linear(const std::string& name, std::size_t outputs, std::size_t inputs, Bias bias) {
    linear(name, number(outputs), inputs, bias);
  }
  void norm(const std::string& name, std::size_t size, NormKind kind, Bias bias) {
    text += name + "_weight " + number(size) + "\n";
    if (kind == NormKind::layer && bias == Bias::with) text += name + "_bias " + number(size) + "\n";
  }
  void attention(const std::string& beginning) {
    const std::size_t queries = shape_.query_rows(), keys = shape_.key_rows(), values = shape_.value_rows();
    if (model_.layout == LayoutKind::in_proj || model_.layout == LayoutKind::in_proj_in_out) {
      std::string order;
      if (model_.projection_blocks > 1) order += " blocks " + number(model_.projection_blocks);
      if (model_.values_before_keys) order += " values_first";
      linear(beginning + "in_proj", number(queries) + "+" + number(keys) + "+" + number(values), shape_.model,
             model_.projection_bias, order);
    } else {
      linear(beginning + "query_proj", queries, shape_.model, model_.projection_bias);
      linear(beginning + "key_proj", keys, shape_.key_model, model_.projection_bias);
      linear(beginning + "value_proj", values, shape_.value_model, model_.projection_bias);
    }
    if (const QueryKeyNormKind& of_heads = model_.query_key_norm; of_heads.over != HeadNorm::none) {
      const bool is_shared = of_heads.over == HeadNorm::head;
      norm(beginning + "query_norm", is_shared ? shape_.head_width : queries, of_heads.kind, of_heads.bias);
      norm(beginning + "key_norm", is_shared ? shape_.head_width : keys, of_heads.kind, of_heads.bias);
    }
    linear(beginning + "out_proj", shape_.model, shape_.concat_width(), model_.output_bias);
  }

  const Model& model_;
  Shape shape_;
  bool is_in_out_ = false;
};

// Returns the sizes of the layers by their keys: config.json ("num_hidden_layers" 2, "hidden_size" 32).
std::string config_of(const families::Stack& stack) {
  const Model& model = stack.model;
  const std::pair<const char*, std::size_t> sizes[] = {{"layers", model.layers},
                                                       {"model", model.model},
                                                       {"heads", model.heads},
                                                       {"kv_heads", model.kv_heads},
                                                       {"feed_forward", model.feed_forward}};
  std::string text;
  for (const auto& [member, size] : sizes)
    if (const auto key = stack.keys.find(member); key != stack.keys.end() && size != 0)
      text += (text.empty() ? " (" : ", ") + files::in_quotes(key->second) + " " + std::to_string(size);
  return "config.json" + text + (text.empty() ? "" : ")");
}

// A linear map of a layer, whose weight has 4 bits.
struct Int4Map {
  std::string name;  // "layers.5.linear1"
  std::size_t layer = 0;
  std::uint64_t int4_bytes = 0, int8_bytes = 0;
  bool is_int8 = false;
};

class MixtureMaker {
 public:
  explicit MixtureMaker(const weights::Spec& spec) {
    for (const weights::Member& member : spec.members) {
      if (member.element != weights::Element::int4) continue;
      const std::uint64_t rows = member.shape[0], columns = member.shape[1];
      const std::size_t bytes = ladon::int4_row_bytes(static_cast<std::size_t>(columns));
      maps_.push_back({member.name.substr(0, member.name.rfind("_weight")), member.layer.value_or(0),
                       rows * (bytes + 8), rows * (columns + 8)});
      layers_ = std::max(layers_, maps_.back().layer + 1);
      all_int8_ += maps_.back().int8_bytes, bytes_ += maps_.back().int4_bytes;
    }
  }

  void keep(const std::string& pattern) {
    const std::regex wanted(pattern);
    bool found = false;
    for (Int4Map& map : maps_)
      if (std::regex_search(map.name, wanted)) set_int8(map), found = true;
    if (!found)
      throw Unsupported("--keep: no linear map of the layers has a name with " + files::in_quotes(pattern) +
                        "; a name is such as \"" + maps_.front().name + "\"");
  }
  void spend(double budget) {
    if (share() > budget) {
      char text[100];
      std::snprintf(text, sizeof text, "--budget is %.4g%%, and the weights take %.1f%% of the bytes of int8",
                    100 * budget, 100 * share());
      throw Unsupported(text);
    }
    for (const std::string_view ending : {"", "value_proj", "in_proj", "out_proj"})
      for (std::size_t layer = layers_; layer > 0 && spend(layer - 1, ending, budget); --layer) continue;
  }
  [[nodiscard]] double share() const { return static_cast<double>(bytes_) / static_cast<double>(all_int8_); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      const auto is_other = [&](const Int4Map& map) { return map.layer == layer && !map.is_int8; };
      if (std::ranges::none_of(maps_, is_other)) {
        names.push_back("layers." + std::to_string(layer));
        continue;
      }
      for (const Int4Map& map : maps_)
        if (map.layer == layer && map.is_int8) names.push_back(map.name);
    }
    return names;
  }

 private:
  void set_int8(Int4Map& map) {
    if (!map.is_int8) bytes_ += map.int8_bytes - map.int4_bytes;
    map.is_int8 = true;
  }
  // Sets the maps of a layer whose names have this ending. Changes nothing, and returns false, if the budget is too
  // small for all of them.
  bool spend(std::size_t layer, std::string_view ending, double budget) {
    const MixtureMaker before = *this;
    for (Int4Map& map : maps_)
      if (map.layer == layer && map.name.ends_with(ending)) set_int8(map);
    if (share() <= budget) return true;
    *this = before;
    return false;
  }

  std::vector<Int4Map> maps_;
  std::size_t layers_ = 0;
  std::uint64_t bytes_ = 0, all_int8_ = 0;
};

files::Error no_place(const std::string& name, const std::string& prefix, const std::string& config,
                      const std::string& tensor) {
  return files::Error(name + ": the layers " + files::in_quotes(prefix) + " of " + config + " have no place for " +
                      files::in_quotes(tensor));
}

}  // namespace

std::vector<std::string> int8_members(Model model, bool attends_memory, const Choices& choices, double& share) {
  model.precision = choices.precision;
  MixtureMaker mixture(weights::parse_spec(layer_members(model, attends_memory), "ladon-import"));
  for (const std::string& pattern : choices.keep) mixture.keep(pattern);
  if (choices.budget > 0) mixture.spend(choices.budget);
  share = mixture.share();
  return mixture.names();
}

std::string layer_members(const Model& model, bool attends_memory) {
  Members members(model);
  members.text = "kv_heads " + std::to_string(model.shape().kv_heads) + "\n";
  for (std::size_t i = 0; i < model.layers; ++i) members.layer("layers." + std::to_string(i) + ".", attends_memory);
  if (model.final_norm == FinalNorm::with) members.norm("norm", model.norm_kind);
  return members.text;
}

void expect_layers(const std::filesystem::path& folder, const Program& program, const std::string& name) {
  const files::Safetensors file(folder);
  for (const families::Stack& stack : program.description.stacks) {
    Model model = stack.model;
    model.precision = program.choices.precision;
    const weights::Spec spec = weights::parse_spec(layer_members(model, stack.attends_memory), "ladon-import");
    const std::string config = config_of(stack);
    const std::string behind_missing =
        std::string("the tensors are not those of ").append(config).append(program.choices.behind_missing);
    const weights::Found found = weights::find_tensors(file, name, spec, stack.prefix, behind_missing);
    if (!found.left_out.empty()) throw no_place(name, stack.prefix, config, found.left_out[0]);
  }
}

}  // namespace ladon::import
