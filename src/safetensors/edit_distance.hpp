// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace ladon::files {

// Returns Levenshtein's distance: the smallest number of letters to insert, remove or exchange.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace ladon::files
