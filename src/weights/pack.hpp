// SPDX-License-Identifier: Apache-2.0
// A checkpoint's tensors as a kernel takes them: one file of data, and a header that says what is where.
#pragma once

#include <string>

#include "find_tensors.hpp"
#include "safetensors.hpp"
#include "spec.hpp"

namespace ladon::weights {

struct Packed {
  std::string data;     // little-endian, each tensor at a multiple of 64 bytes, zeros between them
  std::string offsets;  // C++: each tensor's first element, and how many floats fill the data
};

// What the header says it was made from, and the namespace that it opens.
struct Origin {
  std::string file;  // its name, without folder: the same wherever it is built
  std::string prefix;
  std::string name_space;
};

// Packs float32 members as float32, and bfloat16 members as bfloat16. An int8 member X becomes three tensors: X,
// X_scale (float32) and X_row_sum (int32). Floats are quantised as ladon::quantise does. Throws files::Error, whose
// text begins with the file's name, if a weight to be quantised is infinite or NaN.
Packed pack(const files::Safetensors& file, const Spec& spec, const Found& found, const Origin& origin);

}  // namespace ladon::weights
