#include "list.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace weights {
namespace {

using Cells = std::array<std::string, 4>;

std::string line(const Cells& cells, const std::array<std::size_t, 4>& widths) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string filling(widths[i] - std::min(widths[i], cells[i].size()), ' ');
    text += (i == 0 ? "" : "  ") + (i + 1 == cells.size() ? filling + cells[i] : cells[i] + filling);
  }
  return text + '\n';
}

}  // namespace

std::string list(const files::Safetensors& file) {
  std::vector<Cells> rows{{"name", "dtype", "shape", "bytes"}};
  for (const auto& [name, tensor] : file.tensors())
    rows.push_back({files::escaped(name), files::escaped(tensor.dtype), files::shown(tensor.shape),
                    std::to_string(tensor.end - tensor.begin)});
  // A longer cell moves the cells behind it. Without a limit, one huge name would make every line as long as itself.
  constexpr std::size_t widest = 100;
  std::array<std::size_t, 4> widths{};
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], std::min(widest, row[i].size()));
  std::string text;
  for (const Cells& row : rows) text += line(row, widths);
  return text;
}

}  // namespace weights
