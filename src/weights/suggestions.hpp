// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "safetensors.hpp"
#include "spec.hpp"

namespace ladon::weights {

// Other prefixes below which more than `count` members are found, those with the most of them, and the most alike ones
// first, as a sentence. Empty where there is none.
std::string other_prefixes(const files::Safetensors& file, const Spec& spec, const std::string& prefix,
                           std::size_t count);

}  // namespace ladon::weights
