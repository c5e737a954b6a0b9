// SPDX-License-Identifier: Apache-2.0
// Reads rope_parameters (transformers 5), or rope_theta and rope_scaling (earlier versions).
#include <algorithm>
#include <cmath>

#include "readers.hpp"

namespace ladon::families {
namespace {

constexpr const char* all_types = "full_attention";  // the type whose angles stand for all layers

RotaryKind kind_of(const Config& config, const std::string& name) {
  if (name == "default") return RotaryKind::none;
  if (name == "linear") return RotaryKind::linear;
  if (name == "dynamic") return RotaryKind::dynamic;
  if (name == "llama3") return RotaryKind::llama3;
  if (name == "yarn") return RotaryKind::yarn;
  if (name == "longrope" || name == "su") return RotaryKind::longrope;
  if (name == "proportional") return RotaryKind::proportional;
  config.refuse(
      config.has("rope_type") ? "rope_type" : "type",
      "Ladon lacks this rotary embedding; it has default, linear, dynamic, llama3, yarn, longrope and proportional");
}

// Returns the factors of longrope: those for long texts if the stack has more tokens than the original model.
std::vector<double> factors_of(const Config& config, const Stack& stack, double original) {
  const std::size_t tokens = config.tokens() != 0 ? config.tokens() : std::min<std::size_t>(stack.positions, 2048);
  const char* key = static_cast<double>(tokens) > original ? "long_factor" : "short_factor";
  const nlohmann::json* list = config.find(key);
  const bool numbers = list != nullptr && list->is_array() &&
                       std::all_of(list->begin(), list->end(), [](auto& item) { return item.is_number(); });
  if (!numbers || list->size() != stack.model.position.width / 2)
    config.fail(key, "a number for each pair of features");
  return list->get<std::vector<double>>();
}

// Returns YaRN's factor of all cosines and sines, or 0 if the factor follows from `factor` alone.
double yarn_factor(Config& config, double factor) {
  const double scale = config.number("", {"mscale"}, 0), all = config.number("", {"mscale_all_dim"}, 0);
  const auto magnitude = [&](double m) { return factor <= 1 ? 1 : 0.1 * m * std::log(factor) + 1; };
  return scale != 0 && all != 0 ? magnitude(scale) / magnitude(all) : 0;
}

// Returns the object with the angles of a type of layers.
Config parameters_of(const Config& config, const char* type) {
  const char* key = config.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  const Config parameters = config.inner(key);
  return parameters.has(type) ? parameters.inner(type) : parameters;
}

// Checks the preconditions of RotaryScaling.
void check(const Config& from, const Rotary& rotary) {
  const RotaryScaling& scaling = rotary.scaling;
  const auto expect = [&](const char* key, double value, double least) {
    if (!(value > least)) from.fail(key, "a number above " + std::to_string(static_cast<int>(least)));
  };
  expect("rope_theta", scaling.base, 1);
  if (scaling.kind == RotaryKind::none) return;
  expect("original_max_position_embeddings", scaling.original_positions, 1);
  expect("factor", scaling.factor, 0);
  expect("beta_fast", scaling.beta_fast, 0);
  expect("beta_slow", scaling.beta_slow, 0);
  if (scaling.high_frequency_factor <= scaling.low_frequency_factor)
    from.fail("high_freq_factor", "a number above low_freq_factor");
  for (const double factor : rotary.factors)
    if (!(factor > 0)) from.fail("rope_type", "factors above 0");
}

std::size_t rotated_width(Config& config, const Model& model, double otherwise, bool proportional) {
  Config parameters = parameters_of(config, all_types);
  const Config::Keys keys = {"partial_rotary_factor", "rotary_pct", "rotary_emb_fraction"};
  const double share = parameters.number("", keys, config.number("position.width", keys, otherwise));
  const std::size_t head = model.head_width != 0 ? model.head_width : model.model / model.heads;
  const bool is_share = share > 0 && share <= 1;
  const auto width = proportional || !is_share ? head : static_cast<std::size_t>(static_cast<double>(head) * share);
  if (!is_share || width == 0 || width % 2 != 0)
    config.fail(config.noted().at("position.width"),
                "a share of the head's " + std::to_string(head) + " features that is an even number");
  return width;
}

}  // namespace

Rotary rotary_of_type(Config& config, const Stack& stack, const Angles& otherwise, const char* type) {
  Config from = parameters_of(config, type);
  Rotary rotary;
  RotaryScaling& scaling = rotary.scaling;
  scaling.base = from.number("", {"rope_theta"}, config.number("", {"rope_theta", "rotary_emb_base"}, otherwise.base));
  scaling.kind = kind_of(from, from.text("", {"rope_type", "type"}, "default"));
  if (scaling.kind == RotaryKind::none) return check(from, rotary), rotary;
  const auto positions = static_cast<double>(stack.positions);
  const Config::Keys original = {"original_max_position_embeddings"};
  scaling.original_positions = config.number("", original, from.number("", original, positions));
  if (scaling.kind == RotaryKind::dynamic) scaling.original_positions = positions;
  const bool needs_factor =
      scaling.kind == RotaryKind::linear || scaling.kind == RotaryKind::dynamic || scaling.kind == RotaryKind::llama3;
  scaling.factor = from.number("", {"factor"}, 0);
  if (needs_factor && !from.has("factor")) from.fail("factor", "a number");
  if (!from.has("factor"))
    scaling.factor = scaling.kind == RotaryKind::proportional ? 1 : positions / scaling.original_positions;
  scaling.proportion = from.number("", {"partial_rotary_factor"}, otherwise.share);
  scaling.attention_factor = from.number("", {"attention_factor"}, 0);
  scaling.low_frequency_factor = from.number("", {"low_freq_factor"}, 1);
  scaling.high_frequency_factor = from.number("", {"high_freq_factor"}, 4);
  scaling.beta_fast = from.number("", {"beta_fast"}, 32);
  scaling.beta_slow = from.number("", {"beta_slow"}, 1);
  scaling.truncate = from.flag("", {"truncate"}, true);
  if (scaling.kind == RotaryKind::yarn && scaling.attention_factor == 0)
    scaling.attention_factor = yarn_factor(from, scaling.factor);
  if (scaling.kind == RotaryKind::longrope) rotary.factors = factors_of(from, stack, scaling.original_positions);
  check(from, rotary);
  return rotary;
}

void read_rotary(Config& config, Stack& stack, const Angles& otherwise) {
  Config from = parameters_of(config, all_types);
  const bool proportional = from.text("", {"rope_type", "type"}, "default") == "proportional";
  stack.model.position = {.pairing = otherwise.pairing,
                          .width = rotated_width(config, stack.model, otherwise.share, proportional)};
  stack.rotary = {rotary_of_type(config, stack, otherwise, all_types)};
}

}  // namespace ladon::families
