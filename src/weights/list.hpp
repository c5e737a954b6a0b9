// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "safetensors.hpp"

namespace ladon::weights {

// Returns a line for each tensor, sorted by name: name, dtype, shape, bytes. Control characters in names are escaped.
// Columns are up to 100 characters wide, so the length of the text is linear in the size of the file's header.
std::string list(const files::Safetensors& file);

}  // namespace ladon::weights
