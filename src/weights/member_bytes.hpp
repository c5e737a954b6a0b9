// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a file that form a member of the kernel's weights.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "safetensors.hpp"
#include "sources.hpp"
#include "spec.hpp"

namespace ladon::weights {

// In all functions, find_tensors has checked the sizes of the tensors, and no extent is 0.

// Returns the bytes of the rows that `piece` names, which must be rows or all columns of the tensor in the file.
std::span<const std::byte> rows_of(const files::Safetensors& file, const Piece& piece);

// Returns whether the file has the elements of the member one after another, in the kernel's order. The dtype may
// differ.
bool is_one_tensor(const Member& member, const Source& source);

// Returns a text that identifies the bytes of a member, which may be equal for members of several layers.
std::string key_of(const Member& member, const Source& source);

// Returns the bytes of a member whose elements are float32 or bfloat16. A float32 keeps the value of its source, which
// may be F16 or BF16. A bfloat16 keeps the bits of a BF16 source, and is rounded from other sources. Throws
// files::Error if a source to be rounded has a value that is infinite or NaN, or that would become infinite.
std::string bytes_of_member(const files::Safetensors& file, const Member& member, const Source& source);

// The bytes of the three tensors of an int8 or int4 member: weights, scales (float32) and sums of rows (int32).
struct Int8Member {
  std::string weight, scale, row_sum;
};

// Returns the bytes of an int8 or int4 member. Integer weights of the file are copied, and other weights are quantised
// as ladon::quantise does. Throws files::Error if a weight to be quantised is infinite or NaN.
Int8Member int8_member(const files::Safetensors& file, const Member& member, const Source& source);

}  // namespace ladon::weights
