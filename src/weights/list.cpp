// SPDX-License-Identifier: Apache-2.0
#include "list.hpp"

#include <vector>

#include "table.hpp"

namespace ladon::weights {

std::string list(const files::Safetensors& file) {
  std::vector<Cells> rows{{"name", "dtype", "shape", "bytes"}};
  for (const auto& [name, tensor] : file.tensors())
    rows.push_back({files::escaped(name), files::escaped(tensor.dtype), files::shown(tensor.shape),
                    std::to_string(tensor.end - tensor.begin)});
  return table(rows);
}

}  // namespace ladon::weights
