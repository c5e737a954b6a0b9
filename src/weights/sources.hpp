// SPDX-License-Identifier: Apache-2.0
// From which of a checkpoint's tensors a member of the kernel can be made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_names.hpp"
#include "spec.hpp"

namespace ladon::weights {

// Rows of a tensor; of one with a single dimension, its elements.
struct Piece {
  std::string tensor;                // the name in the file
  std::vector<std::uint64_t> shape;  // that it must have there
  std::uint64_t first_row;
  std::uint64_t rows;
};

// Pieces that, one behind the other, are the member.
using Source = std::vector<Piece>;

// Every way to make the member that the convention knows, the plainest first: none where it has no such member.
// A stack's prefix ends where a layer's number follows.
std::vector<Source> sources(const Spec& spec, const Member& member, const Convention& convention,
                            const std::string& prefix);

}  // namespace ladon::weights
