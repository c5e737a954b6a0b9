// SPDX-License-Identifier: Apache-2.0
// Lists the tensors of a checkpoint from which a member of the kernel can be made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_names.hpp"
#include "spec.hpp"

namespace ladon::weights {

// Some rows of a tensor. The rows of a tensor with one dimension are its elements.
struct Piece {
  std::string tensor;                // the name in the file
  std::vector<std::uint64_t> shape;  // the required shape in the file
  std::uint64_t first_row;
  std::uint64_t rows;
};

// The pieces from which a member is made. The member is the concatenation of the rows of the pieces.
using Source = std::vector<Piece>;

// Returns all sources of the member under the naming convention. A source that is one whole tensor comes before a
// source that joins tensors or takes rows of a tensor. Returns no source if the convention has no name for the member.
// The prefix of a stack ends before the number of the layer.
std::vector<Source> sources(const Spec& spec, const Member& member, const Convention& convention,
                            const std::string& prefix);

}  // namespace ladon::weights
