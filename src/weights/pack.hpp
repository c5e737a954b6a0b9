// A checkpoint's tensors as a kernel takes them: one file of floats, and a header that says what is where.
#pragma once

#include <string>

#include "find_tensors.hpp"
#include "safetensors.hpp"
#include "spec.hpp"

namespace weights {

struct Packed {
  std::string data;     // float32, little-endian, each member at a multiple of 64 bytes, zeros between them
  std::string offsets;  // C++: each member's first float, and how many floats there are
};

// What the header says it was made from, and the namespace that it opens.
struct Origin {
  std::string file;  // its name, without folder: the same wherever it is built
  std::string prefix;
  std::string name_space;
};

Packed pack(const files::Safetensors& file, const Spec& spec, const Found& found, const Origin& origin);

}  // namespace weights
