// SPDX-License-Identifier: Apache-2.0
// The part of a program that writes a text token by token.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chain.hpp"

namespace ladon::import {

// Returns the embeddings as a function of their own if the program, which has all other functions, can write texts: a
// causal stack behind a table of embeddings, and a head with a logit for each token. `settings` are the lines that set
// the options of the layers.
std::optional<Generation> generation_of(Scene& scene, const families::Stack& stack, const Argument& argument,
                                        const Lines& settings);

// Returns the end of NAME.hpp: the type Text and the functions begin_text, read_prompt, start_text and next_token.
std::string text_types(const Program& program);

// Returns what a text begins with, the first arguments of start_text: what an encoder reads, if there is one, and the
// prompt.
std::vector<Argument> prompt_of(const Generation& generation);
// Returns the arguments behind the ids: "weights, tables, text, workspace".
std::string text_arguments(const Program& program);
// Returns the number of tokens of a prompt that one call of the stack computes.
std::size_t prompt_tokens(const Generation& generation);
// Returns these arguments, as a call of start_text has them.
std::string prompt_arguments(const Generation& generation);

}  // namespace ladon::import
