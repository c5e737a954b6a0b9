// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

namespace ladon::weights {

using Cells = std::array<std::string, 4>;

// Returns a line for each row. The cells of a column begin at the same place; those of the last column end there.
// Columns are up to 100 characters wide, so that one huge name does not make every line as long as itself.
std::string table(const std::vector<Cells>& rows);

}  // namespace ladon::weights
