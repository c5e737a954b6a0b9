// SPDX-License-Identifier: Apache-2.0
#include "steps_json.hpp"

#include "step_members.hpp"

namespace ladon::families {
namespace {

template <class T>
nlohmann::json value_of(const T& value) {
  return value;
}
nlohmann::json value_of(const Bias& value) { return value == Bias::with; }
nlohmann::json value_of(const NormKind& value) { return value == NormKind::rms ? "rms" : "layer"; }
nlohmann::json value_of(const NormGain& value) { return value == NormGain::weight ? "weight" : "1 + weight"; }
nlohmann::json value_of(const After& value) {
  constexpr const char* names[] = {"nothing", "relu", "gelu", "gelu_tanh", "silu", "tanh"};
  return names[static_cast<int>(value)];
}
nlohmann::json value_of(const Pooling& value) {
  constexpr const char* names[] = {"mean", "first", "last", "maximum"};
  return names[static_cast<int>(value)];
}
nlohmann::json value_of(const std::vector<Prepend::Rows>& tensors) {
  nlohmann::json json = nlohmann::json::array();
  for (const Prepend::Rows& rows : tensors) json.push_back({{"tensor", rows.tensor}, {"rows", rows.rows}});
  return json;
}

}  // namespace

nlohmann::json json_of(const std::vector<Step>& steps) {
  nlohmann::json json = nlohmann::json::array();
  for (const Step& step : steps) {
    nlohmann::json& object = json.emplace_back();
    const auto add = [&](const char* name, const auto& value) { object[name] = value_of(value); };
    std::visit([&](const auto& members) { visit_members(members, add); }, step);
  }
  return json;
}

nlohmann::json json_of(const Input& input) {
  return {{"name", input.name}, {"steps", json_of(input.steps)}, {"missing", input.missing}};
}

}  // namespace ladon::families
