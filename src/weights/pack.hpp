// SPDX-License-Identifier: Apache-2.0
// Packs the tensors of a checkpoint for a kernel: a file with the data, and a C++ header with the offset of each
// tensor.
#pragma once

#include <string>

#include "find_tensors.hpp"
#include "safetensors.hpp"
#include "spec.hpp"

namespace ladon::weights {

struct Packed {
  std::string data;     // little-endian, each tensor at a multiple of 64 bytes, with zeros between the tensors
  std::string offsets;  // C++ constants: the offset of each tensor in elements, and the size of the data in floats
};

// The namespace of the C++ header, and the origin of the packed data (`file` and `prefix`). A comment in the C++ header
// states this origin.
struct Origin {
  std::string file;  // name without folder, so that the header does not depend on the machine
  std::string prefix;
  std::string name_space;
};

// Packs float32 members as float32, and bfloat16 members as bfloat16. An int8 member X becomes three tensors: X,
// X_scale (float32) and X_row_sum (int32). The quantised weights are equal to the results of ladon::quantise. Throws
// files::Error if a float weight of an int8 member is infinite or NaN. Also throws files::Error if a weight of a
// bfloat16 member is infinite or NaN, or would become infinite. The text of the error begins with the name of the file.
Packed pack(const files::Safetensors& file, const Spec& spec, const Found& found, const Origin& origin);

}  // namespace ladon::weights
