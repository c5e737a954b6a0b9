// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "safetensors.hpp"
#include "spec.hpp"

namespace ladon::weights {

// Returns a sentence that suggests prefixes instead of `prefix`, under which the file has more than `count` members:
// the prefixes with the most members, most similar to `prefix` first. Returns "" if no prefix has more members.
std::string other_prefixes(const files::Safetensors& file, const Spec& spec, const std::string& prefix,
                           std::size_t count);

}  // namespace ladon::weights
