// SPDX-License-Identifier: Apache-2.0
// Lists the tensors of a checkpoint from which a member (a tensor of the kernel) can be made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_names.hpp"
#include "spec.hpp"

namespace ladon::weights {

// Some rows of a tensor in the file. If the tensor has one dimension, each element is a row.
struct Piece {
  std::string tensor;                // the name in the file
  std::vector<std::uint64_t> shape;  // the required shape in the file
  std::uint64_t first_row;
  std::uint64_t rows;
};

// Pieces of the file. A member (a tensor of the kernel) is made of the rows of the pieces, one piece after another.
using Source = std::vector<Piece>;

// Returns all sources of the member under the naming convention. A source that is one whole tensor comes before a
// source that joins tensors or takes rows of a tensor. Returns no source if the convention has no name for the member.
// For a stack, `prefix` ends before the number of the layer.
std::vector<Source> sources(const Spec& spec, const Member& member, const Convention& convention,
                            const std::string& prefix);

}  // namespace ladon::weights
