// SPDX-License-Identifier: Apache-2.0
// Takes tensors of a checkpoint as arrays of C: the arguments TENSORS and CHECK of ladon_add_kernel.
#pragma once

#include <string>
#include <vector>

#include "safetensors.hpp"

namespace ladon::weights {

struct Taken {
  std::string data;    // little-endian, each tensor at a multiple of 64 bytes, with zeros between the tensors
  std::string list;    // a line LADON_TENSOR(name, type, offset, bytes, extents...) for each tensor
  std::string header;  // a declaration of an array for each tensor, such as `extern const float P_x[2][3];`
};

// Takes the tensors whose names are equal to one of `wanted`, in which a * stands for any text. The array of a tensor
// has the name `symbol`, "_", and the tensor's name, with "_" for each character that a name in C must not have. F16
// and BF16 become float. Other types keep their bytes. A tensor without dimensions becomes an array of one element.
// Throws files::Error, whose text begins with `file_name`, if a wanted name has no tensor, if a tensor is empty or has
// an unknown dtype, or if two arrays would have the same name.
Taken take(const files::Safetensors& file, const std::string& file_name, const std::vector<std::string>& wanted,
           const std::string& symbol);

}  // namespace ladon::weights
