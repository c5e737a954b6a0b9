// SPDX-License-Identifier: Apache-2.0
// Steps as JSON: an object of the step's members, and "step", the name of the step.
#pragma once

#include <ladon/safetensors/model_text.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "steps.hpp"

namespace ladon::families {

// The name of an enumerator of steps.hpp. Returns "" for a number without a name.
std::string text_of(After value);
std::string text_of(Pooling value);
// The name of an enumerator of steps.hpp or of ladon/model.hpp, without its type.
template <class Enum>
std::string enumerator_of(Enum value) {
  using safetensors::detail::text_of;
  const std::string text = text_of(value);
  return text.substr(text.rfind(':') + 1);
}

nlohmann::json json_of(const std::vector<Step>& steps);
nlohmann::json json_of(const Input& input);

}  // namespace ladon::families
