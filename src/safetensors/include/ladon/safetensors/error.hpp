// SPDX-License-Identifier: Apache-2.0
// What is wrong with a file.
#pragma once

#include <stdexcept>

namespace ladon::safetensors {

// The text is for the user. The text names the file and the tensor, what was expected, and what was found.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ladon::safetensors
