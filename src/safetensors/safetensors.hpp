// SPDX-License-Identifier: Apache-2.0
// Declares the reader of safetensors files under a short name, and functions for the tools: functions that make texts
// for messages, and a function that makes the header of a new file.
#pragma once

#include <ladon/safetensors/file.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file_error.hpp"
#include "mapped_file.hpp"

namespace ladon::files {

using safetensors::Tensor;
using Safetensors = safetensors::File;

// The functions in_quotes and escaped return a text from a file as ASCII with the escapes of JSON, so that a file
// cannot send control sequences to a terminal. `in_quotes` adds quotation marks and truncates a long text. `escaped`
// does neither.
std::string in_quotes(std::string_view text);
std::string escaped(std::string_view text);

// Returns a shape as a text such as "[2,3]".
std::string shown(const std::vector<std::uint64_t>& shape);

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Returns the bytes before the data of a safetensors file: the length of the header, and the header. The header ends in
// spaces, so that the data begin at a multiple of 8 bytes. The header names the tensors in the given order. `metadata`
// is a result of Safetensors::metadata. Throws Error if the header is longer than 100,000,000 bytes, the limit of
// readers.
std::string safetensors_header(std::span<const NamedTensor> tensors, const std::string& metadata);

}  // namespace ladon::files

namespace files = ladon::files;
