// SPDX-License-Identifier: Apache-2.0
// Steps as JSON: an object of the step's members, and "step", the name of the step.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "steps.hpp"

namespace ladon::families {

nlohmann::json json_of(const std::vector<Step>& steps);
nlohmann::json json_of(const Input& input);

}  // namespace ladon::families
