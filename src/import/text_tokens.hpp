// SPDX-License-Identifier: Apache-2.0
// The tokens that generation_config.json and config.json name.
#pragma once

#include <filesystem>

#include "program.hpp"

namespace ladon::import {

// Reads the keys of generation_config.json, or else of config.json, as transformers' `generate` does. Throws Error if a
// value is not a token id or a list of token ids.
TextTokens text_tokens_of(const std::filesystem::path& folder);

}  // namespace ladon::import
