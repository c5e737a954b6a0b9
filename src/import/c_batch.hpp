// SPDX-License-Identifier: Apache-2.0
// The C functions of batches: NAME_run_batch and NAME_batch_workspace_bytes. Each function returns "" if the program
// has no run_batch.
#pragma once

#include <string>

#include "program.hpp"

namespace ladon::import {

std::string c_batch_declarations(const Program& program);
std::string c_batch_definitions(const Program& program);
// The entries of NAME_functions.inc.
std::string c_batch_list(const Program& program);

}  // namespace ladon::import
