// SPDX-License-Identifier: Apache-2.0
#include "steps_json.hpp"

#include <iterator>
#include <type_traits>

#include "step_members.hpp"

namespace ladon::families {
namespace {

template <class T>
nlohmann::json value_of(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return enumerator_of(value);
  else
    return value;
}
nlohmann::json value_of(const std::vector<Prepend::Rows>& tensors) {
  nlohmann::json json = nlohmann::json::array();
  for (const Prepend::Rows& rows : tensors) json.push_back({{"tensor", rows.tensor}, {"rows", rows.rows}});
  return json;
}

}  // namespace

std::string text_of(After value) {
  constexpr const char* names[] = {"nothing", "relu", "gelu", "gelu_tanh", "silu", "tanh"};
  const auto number = static_cast<std::size_t>(value);
  return number < std::size(names) ? names[number] : "";
}
std::string text_of(Pooling value) {
  constexpr const char* names[] = {"mean", "first", "last", "maximum"};
  const auto number = static_cast<std::size_t>(value);
  return number < std::size(names) ? names[number] : "";
}

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
