// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace files {

// What is wrong with a file. The text is for the user: it names the file, the part of it where there is one, what was
// expected and what came.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace files
