// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "file_error.hpp"

namespace ladon::weights {

// Throws one Error with a line for each problem of a file. Does nothing if there are no problems.
inline void throw_problems(const std::string& what, const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  std::string text = what;
  for (const std::string& problem : problems) text += "\n  " + problem;
  throw files::Error(text);
}

}  // namespace ladon::weights
