// SPDX-License-Identifier: Apache-2.0
// Internal functions of `load` and ladon-weights: the members of a Model as texts. The texts have no type of
// LADON_NAMESPACE, so a library and a program with other build settings can compare them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include <ladon/model.hpp>

namespace ladon::safetensors::detail {

// A member and its initialiser in C++. A member of a member has a name with a dot, such as "mask.causal".
struct MemberText {
  std::string name;
  std::string value;
};

inline std::string text_of(bool value) { return value ? "true" : "false"; }
inline std::string text_of(std::size_t value) { return value == all ? "ladon::all" : std::to_string(value); }
inline std::string text_of(double value) {
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}
inline std::string text_of(float value) {
  char text[32];
  for (int digits = 6; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value) break;
  }
  const std::string found = text;
  return found + (found.find_first_of(".e") == std::string::npos ? ".0f" : "f");
}

template <class Enum>
struct Enumerator {
  Enum value;
  const char* name;
};
template <class Enum>
std::string text_of(Enum value, const char* type, std::initializer_list<Enumerator<Enum>> names) {
  for (const auto& item : names) {
    if (item.value == value) return std::string("ladon::") + type + "::" + item.name;
  }
  return "";
}
inline std::string text_of(Bias value) {
  return text_of<Bias>(value, "Bias", {{Bias::with, "with"}, {Bias::without, "without"}});
}
inline std::string text_of(NormKind value) {
  using enum NormKind;
  return text_of<NormKind>(value, "NormKind", {{layer, "layer"}, {rms, "rms"}, {same, "same"}});
}
inline std::string text_of(NormGain value) {
  using enum NormGain;
  return text_of<NormGain>(value, "NormGain", {{weight, "weight"}, {one_plus_weight, "one_plus_weight"}});
}
inline std::string text_of(NormOrder value) {
  using enum NormOrder;
  return text_of<NormOrder>(value, "NormOrder", {{post, "post"}, {pre, "pre"}, {both, "both"}, {output, "output"}});
}
inline std::string text_of(Residual value) {
  using enum Residual;
  return text_of<Residual>(
      value, "Residual",
      {{sequential, "sequential"}, {parallel, "parallel"}, {parallel_one_norm, "parallel_one_norm"}});
}
inline std::string text_of(FinalNorm value) {
  return text_of<FinalNorm>(value, "FinalNorm", {{FinalNorm::without, "without"}, {FinalNorm::with, "with"}});
}
inline std::string text_of(Activation value) {
  using enum Activation;
  return text_of<Activation>(value, "Activation",
                             {{relu, "relu"},
                              {gelu, "gelu"},
                              {gelu_tanh, "gelu_tanh"},
                              {silu, "silu"},
                              {quick_gelu, "quick_gelu"},
                              {squared_relu, "squared_relu"},
                              {xielu, "xielu"}});
}
inline std::string text_of(Scale value) {
  using enum Scale;
  return text_of<Scale>(value, "Scale", {{head_width, "head_width"}, {keys, "keys"}, {model, "model"}});
}
inline std::string text_of(Pairing value) {
  using enum Pairing;
  return text_of<Pairing>(value, "Pairing", {{neighbours, "neighbours"}, {halves, "halves"}});
}
inline std::string text_of(LayoutKind value) {
  using enum LayoutKind;
  return text_of<LayoutKind>(value, "LayoutKind",
                             {{in_proj, "in_proj"},
                              {separate_qkv, "separate_qkv"},
                              {per_head, "per_head"},
                              {in_out, "in_out"},
                              {in_proj_in_out, "in_proj_in_out"}});
}
inline std::string text_of(HeadNorm value) {
  using enum HeadNorm;
  return text_of<HeadNorm>(value, "HeadNorm", {{none, "none"}, {head, "head"}, {each_head, "each_head"}, {all, "all"}});
}

// Calls f(name, member) for each member of a Model that config.json determines, in the order of their declaration: all
// but the precisions, and masks that depend on the text. `kinds` and `kind_of_layer` are not among them.
template <class AnyModel, class F>
void for_each_member(AnyModel& m, F f) {
  f("layers", m.layers), f("tokens", m.tokens), f("memory", m.memory), f("model", m.model), f("heads", m.heads);
  f("kv_heads", m.kv_heads), f("head_width", m.head_width), f("value_width", m.value_width);
  f("feed_forward", m.feed_forward), f("activation", m.activation), f("norm", m.norm);
  f("residual", m.residual), f("residual_scale", m.residual_scale), f("layer_scale", m.layer_scale);
  f("gated", m.gated), f("norm_kind", m.norm_kind), f("feed_forward_norm_kind", m.feed_forward_norm_kind);
  f("norm_gain", m.norm_gain), f("bias", m.bias), f("norm_bias", m.norm_bias), f("final_norm", m.final_norm);
  f("mask.causal", m.mask.causal), f("mask.left", m.mask.left), f("mask.right", m.mask.right);
  f("mask.additive_per_head", m.mask.additive_per_head), f("mask.relative", m.mask.relative);
  f("mask.alibi", m.mask.alibi), f("layer_bias", m.layer_bias);
  f("score.by", m.score.by), f("score.scale", m.score.scale), f("score.softcap", m.score.softcap);
  f("score.sinks", m.score.sinks), f("position.pairing", m.position.pairing);
  f("position.width", m.position.width), f("position.positions", m.position.positions);
  f("layout", m.layout), f("projection_blocks", m.projection_blocks), f("values_before_keys", m.values_before_keys);
  f("query_key_norm.over", m.query_key_norm.over), f("query_key_norm.kind", m.query_key_norm.kind);
  f("query_key_norm.bias", m.query_key_norm.bias);
  f("query_key_norm.after_rotation", m.query_key_norm.after_rotation);
  f("projection_bias", m.projection_bias), f("output_bias", m.output_bias);
}

inline std::vector<MemberText> members_of(const Model& m) {
  std::vector<MemberText> members;
  for_each_member(m, [&](const char* name, const auto& value) { members.push_back({name, text_of(value)}); });
  return members;
}

// Returns the members that a checkpoint determines, in a normal form: defaults are filled in, members without influence
// have their default, and the kinds of layers become a text for each layer. `attends_memory`: the Model is of a
// decoder.
// With kinds, one layer stands for any layer of its stack, so no text is about the kind.
inline std::vector<MemberText> facts_of(Model m, bool attends_memory, bool is_stack = true) {
  const LayoutKind layout = m.layout;
  m = m.with(m.shape());
  if (attends_memory) m.mask.causal = true;
  if (m.feed_forward_norm_kind == NormKind::same) m.feed_forward_norm_kind = m.norm_kind;
  if (m.norm_kind == NormKind::rms && m.feed_forward_norm_kind == NormKind::rms) m.norm_bias = Bias::without;
  if (m.query_key_norm.over == HeadNorm::none) m.query_key_norm = {};
  if (m.query_key_norm.kind == NormKind::rms) m.query_key_norm.bias = Bias::without;
  if (m.position.positions == 0) m.position = {};
  if (m.score.scale == 0 && m.score.by == Scale::head_width)
    m.score.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(m.head_width)));
  std::vector<MemberText> facts;
  for (const MemberText& member : members_of(m)) {
    if (member.name != "tokens" && member.name != "memory" && member.name != "position.positions" &&
        member.name != "mask.left" && member.name != "mask.right")
      facts.push_back(member);
  }
  const bool in_out = layout != LayoutKind::in_proj && layout != LayoutKind::separate_qkv;
  facts.push_back({"order", in_out ? "ladon::Order::in_out" : "ladon::Order::out_in"});
  if (!is_stack && m.kinds.count > 0) return facts;
  for (std::size_t i = 0; i < m.layers; ++i) {
    const LayerKind kind = m.kinds.count == 0 ? LayerKind{} : m.kinds.items[m.kind_number(i)];
    const std::size_t window = kind.window == 0 ? all : kind.window;
    const std::size_t left = std::min(m.mask.left, window);
    const std::size_t right = m.mask.causal ? 0 : std::min(m.mask.right, window);
    const std::string layer = " of layer " + std::to_string(i);
    facts.push_back({"window" + layer, text_of(left) + " before, " + text_of(right) + " after"});
    facts.push_back({"unrotated" + layer, text_of(m.position.width == 0 || kind.unrotated)});
    facts.push_back({"unnormed_attention" + layer, text_of(kind.unnormed_attention)});
  }
  return facts;
}

// Removes the members that types state if a layer has types beside its Model.
inline void drop_types(std::vector<MemberText>& facts) {
  std::erase_if(facts, [](const MemberText& fact) {
    for (const char* beginning : {"mask.", "window", "score.", "position.", "unrotated", "layout", "order",
                                  "projection_", "values_before_keys", "output_bias"})
      if (fact.name.starts_with(beginning)) return true;
    return false;
  });
}

}  // namespace ladon::safetensors::detail
