// How many bytes a tensor needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "safetensors.hpp"

namespace weights {

// Returns the bytes of an element, or 0 if the dtype is unknown or has less than a byte.
std::uint64_t bytes_of_element(std::string_view dtype);

// Returns what is wrong with the number of a tensor's bytes, or "" if nothing is or if the dtype is unknown.
std::string size_complaint(const files::Tensor& tensor);

}  // namespace weights
