// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "safetensors.hpp"

namespace ladon::weights {

// Returns the calls that load the stack of layers, the layer or the attention of a file, in C++ and in CMake, and what
// the file cannot tell. Several stacks have a text each. Returns "" if no convention has the names of the file.
std::string next_calls(const files::Safetensors& file);

}  // namespace ladon::weights
