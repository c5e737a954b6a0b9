// SPDX-License-Identifier: Apache-2.0
// Internal function of `load`: compares a layer with the config.json of its checkpoint.
#pragma once

#include <string>
#include <vector>

#include <ladon/safetensors/folder.hpp>
#include <ladon/safetensors/model_text.hpp>

namespace ladon::safetensors::detail {

// What `load` reads: an attention, a layer, or a stack of layers. A decoder's layers attend to a memory, too.
enum class Part { attention, layer, stack, decoder_layer, decoder };

// What config.json determines beside the Model.
struct Agreement {
  std::string prefix;
  float epsilon;
};

// Compares `facts` (facts_of) with the stack of config.json to which `prefix` belongs. If `prefix` is empty, it is the
// prefix of the only stack of this kind, as in the folder's file. Throws Error with a line for each member that
// contradicts config.json.
Agreement agree(const Folder& folder, const std::string& prefix, Part part, const std::vector<MemberText>& facts);

}  // namespace ladon::safetensors::detail
