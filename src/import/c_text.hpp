// SPDX-License-Identifier: Apache-2.0
// The C functions that write texts: NAME_text_start and others. Each function returns "" if the program writes no
// texts.
#pragma once

#include <string>

#include "program.hpp"

namespace ladon::import {

std::string c_text_declarations(const Program& program);
std::string c_text_definitions(const Program& program);
// The entries of NAME_functions.inc.
std::string c_text_list(const Program& program);

}  // namespace ladon::import
