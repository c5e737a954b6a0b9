// SPDX-License-Identifier: Apache-2.0
// Computes the number of bytes that a tensor needs, and checks that a tensor has this number of bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "safetensors.hpp"

namespace ladon::weights {

// Returns the number of bytes of an element, or 0 if the dtype is unknown or its elements have less than a byte.
std::uint64_t bytes_of_element(std::string_view dtype);

// Returns a description of the error if the tensor has a wrong number of bytes. Returns "" if the number is correct or
// the dtype is unknown.
std::string size_complaint(const files::Tensor& tensor);

}  // namespace ladon::weights
