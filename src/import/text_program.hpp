// SPDX-License-Identifier: Apache-2.0
// The parts of main.cpp and CMakeLists.txt that read and write texts. They are empty for programs without texts.
#pragma once

#include <string>

#include "program.hpp"

namespace ladon::import {

// Return parts of main.cpp: the comment about the options of texts, the header for them, the argument of Records that
// allows the options of texts, the statements that take the ids of --text, and the statements that write a text behind
// input_ids.
std::string text_usage(const Program& program);
std::string text_include(const Program& program);
std::string text_abilities(const Program& program);
std::string text_reading(const Program& program);
std::string text_writing(const Program& program);

// Returns the end of CMakeLists.txt: links ladon::tokenizer, if the model has a tokenizer.
std::string text_library(const Program& program);

}  // namespace ladon::import
