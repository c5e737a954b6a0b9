// SPDX-License-Identifier: Apache-2.0
// The part of a program that writes a text token by token.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "chain.hpp"

namespace ladon::import {

// Returns the tokens that end a text: "eos_token_id" of generation_config.json, or else of config.json. Throws Error if
// the value is not a token id or a list of token ids.
std::vector<std::int32_t> end_tokens_of(const std::filesystem::path& folder);

// Returns the embeddings as a function of their own if the program, which has all other functions, can write texts: a
// causal stack behind a table of embeddings, and a head with a logit for each token. `settings` are the lines that set
// the options of the layers.
std::optional<Generation> generation_of(Scene& scene, const families::Stack& stack, const Argument& argument,
                                        const Lines& settings);

// Returns the end of NAME.hpp: the type Text and the functions start_text and next_token.
std::string text_types(const Program& program);

}  // namespace ladon::import
