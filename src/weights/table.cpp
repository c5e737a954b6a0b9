// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>

namespace ladon::weights {
namespace {

using Widths = std::array<std::size_t, std::tuple_size_v<Cells>>;

std::string line(const Cells& cells, const Widths& widths) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string filling(widths[i] - std::min(widths[i], cells[i].size()), ' ');
    text += (i == 0 ? "" : "  ") + (i + 1 == cells.size() ? filling + cells[i] : cells[i] + filling);
  }
  return text + '\n';
}

}  // namespace

std::string table(const std::vector<Cells>& rows) {
  constexpr std::size_t widest = 100;  // a longer cell shifts the following cells of its line
  Widths widths{};
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], std::min(widest, row[i].size()));
  std::string text;
  for (const Cells& row : rows) text += line(row, widths);
  return text;
}

}  // namespace ladon::weights
