// SPDX-License-Identifier: Apache-2.0
// The exception that the functions of ladon::safetensors throw if a file is missing or wrong.
#pragma once

#include <stdexcept>

namespace ladon::safetensors {

// The message is for the user of a program. The message names the file and the tensor, and states the expected and the
// found value.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ladon::safetensors
