// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a file that form a member of the kernel's weights.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "safetensors.hpp"
#include "sources.hpp"
#include "spec.hpp"

namespace ladon::weights {

// Returns the bytes of the rows that `piece` names. find_tensors has checked the size of the tensor, and no extent is
// 0.
std::span<const std::byte> rows_of(const files::Safetensors& file, const Piece& piece);

// Appends the rows of `piece` as float32, little-endian.
void append_rows(const files::Safetensors& file, const Piece& piece, std::string& data);

// Calls visit(values) for each row of `piece`, which is some rows of a float weight. Throws files::Error if a value is
// NaN, or if its magnitude is above `most`.
void for_finite_rows(const files::Safetensors& file, const Piece& piece, float most,
                     const std::function<void(const std::vector<float>&)>& visit);

// Returns the bytes of a member whose elements are float32 or bfloat16. A float32 keeps the value of its source, which
// may be F16 or BF16. A bfloat16 keeps the bits of a BF16 source, and is rounded from other sources. Throws
// files::Error if a source to be rounded has a value that is infinite or NaN, or that would become infinite.
std::string bytes_of_member(const files::Safetensors& file, const Member& member, const Source& source);

}  // namespace ladon::weights
