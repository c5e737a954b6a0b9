// SPDX-License-Identifier: Apache-2.0
// Finds the tensors of a checkpoint from which the tensors of a kernel's weights are made.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "safetensors.hpp"
#include "sources.hpp"
#include "spec.hpp"

namespace ladon::weights {

struct Found {
  std::vector<Source> members;        // one source for each member of the SPEC, in the order of the SPEC
  std::string_view convention;        // the title of the naming convention of the file
  std::string prefix;                 // with the wrappers of the file
  std::vector<std::string> left_out;  // tensors below the prefix, or of a stack's last norm, that no member uses
};

// Returns the sources (tensors of the file) of all members of a kernel's weights. Tries all naming conventions, such as
// PyTorch's, and uses the convention that finds the most members. `prefix` is the text before the names of the
// attention or of the layer. For a stack, `prefix` is the text before the numbers of the layers. If nothing is below
// the prefix, tries the prefix with and without the names of wrappers: "model", "module", "_orig_mod",
// "base_model.model".
//
// Throws files::Error, whose text begins with `file_name` and `complaint` and has a line for each member that is
// missing, or that has a wrong shape or dtype. If the file has no int8 weight at all, an int8 member may have a source
// of floats, which `pack` quantises.
Found find_tensors(const files::Safetensors& file, const std::string& file_name, const Spec& spec,
                   const std::string& prefix, const std::string& complaint = "is not what the kernel needs");

// Returns the first source whose tensors all exist in the file, or null. Does not check shapes.
const Source* present(const files::Safetensors& file, const std::vector<Source>& sources);

// Adds a text to `problems` for each tensor of the source that has a wrong shape, dtype or size, or wrong scales. The
// tensors must exist. A weight of floats may become int8, even if the file has int8 weights.
void check_source(const files::Safetensors& file, const Member& member, const Source& source,
                  std::vector<std::string>& problems);

// How many members (tensors of the kernel) a file has. A member that the family lacks counts as fitting only.
struct Match {
  std::size_t present = 0;  // all tensors exist
  bool named = false;       // the prefix of an attention ends with the convention's name of attentions
  std::size_t fitting = 0;  // tensors with the expected shapes
  auto operator<=>(const Match&) const = default;
};

// Counts the members that the file has under `prefix`, with the names of the convention.
Match match(const files::Safetensors& file, const Spec& spec, const Convention& convention, const std::string& prefix);

}  // namespace ladon::weights
