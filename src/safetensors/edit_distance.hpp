// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace ladon::files {

// Returns the Levenshtein distance: the smallest number of insertions, deletions and replacements of a letter that turn
// `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace ladon::files
