// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "safetensors.hpp"
#include "spec.hpp"

namespace ladon::weights {

// Returns a sentence that suggests the prefixes under which the file has the most tensors of the kernel. The prefix
// most similar to `prefix` comes first. Returns "" if no prefix has more than `count` tensors of the kernel.
std::string other_prefixes(const files::Safetensors& file, const Spec& spec, const std::string& prefix,
                           std::size_t count);

}  // namespace ladon::weights
