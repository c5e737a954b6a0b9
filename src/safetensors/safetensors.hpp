// SPDX-License-Identifier: Apache-2.0
// The reader of safetensors files, and what tools need beside the reader.
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

// What comes from a file is shown in ASCII, with JSON's escapes, so that nothing in it can steer a terminal: quoted and
// not at any length, or whole and bare.
std::string in_quotes(std::string_view text);
std::string escaped(std::string_view text);

// [2,3]
std::string shown(const std::vector<std::uint64_t>& shape);

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Returns what stands before the data of a safetensors file: the length of the header and the header, filled up with
// spaces so that the data begin at a multiple of 8 bytes. The header names the tensors in the given order. `metadata`
// is what Safetensors::metadata returns. Throws Error if the header is longer than a reader accepts.
std::string safetensors_header(std::span<const NamedTensor> tensors, const std::string& metadata);

}  // namespace ladon::files

namespace files = ladon::files;
