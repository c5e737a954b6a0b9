// SPDX-License-Identifier: Apache-2.0
// The exception for errors in files.
#pragma once

#include <stdexcept>

namespace ladon::safetensors {

// The message is for the user of a program. The message names the file and the tensor, and states the expected and the
// found value.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ladon::safetensors
