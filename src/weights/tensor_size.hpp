// SPDX-License-Identifier: Apache-2.0
// Computes the number of bytes that a tensor needs, and checks that a tensor has this number of bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "safetensors.hpp"

namespace ladon::weights {

// Returns the number of bytes of an element, or 0 if the dtype is unknown or its elements have less than a byte.
std::uint64_t bytes_of_element(std::string_view dtype);

// Returns a description of the error if the tensor has a wrong number of bytes. Returns "" if the number is correct or
// the dtype is unknown.
std::string size_complaint(const files::Tensor& tensor);

// Returns whether each extent of `shape` is the product of neighbouring extents of the tensor, in their order. Extents
// of 1 are ignored. For example, [1,1,32] merges to [32], and [32,3,4,4] to [32,48].
bool merges_to(const files::Tensor& tensor, std::span<const std::uint64_t> shape);

}  // namespace ladon::weights
