// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "program.hpp"

namespace ladon::import {

// Returns the table of --dry-run: the model, its stacks, the steps of a call with their multiply-adds, the tensors, and
// their bytes in each precision.
std::string summary(const Program& program, const families::Tensors& tensors);

// Returns whether the program reads a tensor.
bool is_used(const std::string& name, const Program& program);

}  // namespace ladon::import
