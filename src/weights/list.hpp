// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "safetensors.hpp"

namespace ladon::weights {

// A line for each tensor, by name: name, dtype, shape, bytes. What could steer a terminal is escaped.
// Columns are up to 100 characters wide, so the text's length is linear in the size of the file's header.
std::string list(const files::Safetensors& file);

}  // namespace ladon::weights
