// Defines a tensor of a checkpoint, with its name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ladon_test {

struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> data;
};

}  // namespace ladon_test
