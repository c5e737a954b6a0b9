// SPDX-License-Identifier: Apache-2.0
// The kernel's members found in a checkpoint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "safetensors.hpp"
#include "sources.hpp"
#include "spec.hpp"

namespace ladon::weights {

struct Found {
  std::vector<Source> members;        // of each of the SPEC's members, in its order
  std::string_view convention;        // whose names they are
  std::vector<std::string> left_out;  // tensors of the same part of the model that no member is made of
};

// The convention is the one that names the most members. Throws files::Error, whose text begins with `file_name` and
// has a line for each member that is missing, or not of the shape or of a dtype that it must have. An int8 member may
// be float if the file has no int8 weight at all: then `pack` quantises the member. `prefix` is what stands before the
// names of the attention or of the layer; of a stack, before the layers' numbers.
Found find_tensors(const files::Safetensors& file, const std::string& file_name, const Spec& spec,
                   const std::string& prefix);

// The member's source that the file has all of, whatever its shapes; null where there is none.
const Source* present(const files::Safetensors& file, const std::vector<Source>& sources);

// How many members the convention finds below the prefix.
std::size_t count_present(const files::Safetensors& file, const Spec& spec, const Convention& convention,
                          const std::string& prefix);

}  // namespace ladon::weights
