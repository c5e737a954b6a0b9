// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

namespace ladon::weights {

using Cells = std::array<std::string, 4>;

// Returns a text with a line for each row. The last column is right-aligned, and all other columns are left-aligned.
// Columns are up to 100 characters wide, so that one very long name does not lengthen every line.
std::string table(const std::vector<Cells>& rows);

}  // namespace ladon::weights
