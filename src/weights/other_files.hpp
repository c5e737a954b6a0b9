// SPDX-License-Identifier: Apache-2.0
// Recognises files that are not a complete checkpoint with names that Ladon reads. The functions return a text for an
// error message, with the way out, or "" if they recognise nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "safetensors.hpp"

namespace ladon::weights {

// Recognises a file that is not a safetensors file by its first bytes: a pointer of Git LFS, an index of shards, ..
std::string kind_of_content(std::span<const std::byte> bytes);

// Recognises weights that GPTQ, AWQ, compressed-tensors or bitsandbytes packed.
std::string packed_weights_in(const std::map<std::string, files::Tensor, std::less<>>& tensors);

// Recognises packed weights, a LoRA adapter, a shard of a checkpoint, and the tensor names of other families of models.
std::string kind_of_file(const files::Safetensors& file);

}  // namespace ladon::weights
