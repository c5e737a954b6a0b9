// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "description.hpp"
#include "program.hpp"

namespace ladon::import {

// Returns the initialiser of a model with weights of this precision.
std::string model_text(const Model& model, PrecisionKind precision);

// Returns the namespace of a stack: its model, its class, and the type of its rotary tables.
std::string namespace_of(const families::Stack& stack, const Choices& choices, bool writes_texts);

// Returns the statements that give the tables of a stack to `options`, such as "options.position.table = ..".
// `relative` is the table of a relative bias. `is_joined` says whether the mask that reads it is joined with another
// mask.
Lines table_settings(const families::Stack& stack, const std::string& options, const std::string& relative,
                     bool is_joined);

// Returns the name of the table of a stack's relative bias.
std::string relative_table(const families::Stack& stack);

// Adds a table of the relative bias for `tokens` tokens, if the stack has one, and the statement that fills it from the
// member `weights` of Weights.
void add_relative_table(Program& program, const families::Stack& stack, const std::string& table, std::size_t tokens,
                        const std::string& weights);

// Returns the multiply-adds of the largest call.
double multiply_adds_of(const families::Stack& stack);

}  // namespace ladon::import
