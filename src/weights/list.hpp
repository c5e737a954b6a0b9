// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "safetensors.hpp"

namespace ladon::weights {

// Returns a line for each tensor, sorted by name: name, dtype, shape, bytes. Then follows a line for each pair of equal
// matrices, which are usually tied weights: the head of a language model that is its table of embeddings. `config` is
// the text of the model's config.json, or "". If the config says that the file lacks a tied head, a line says so. The
// last lines are the next command or call (next_call.hpp). Control characters in names are escaped. Columns are up to
// 100 characters wide, so the length of the text is linear in the size of the file's header.
std::string list(const files::Safetensors& file, const std::string& config = "");

}  // namespace ladon::weights
