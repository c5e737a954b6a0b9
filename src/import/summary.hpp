// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "program.hpp"

namespace ladon::import {

// Returns the table of --dry-run: the model, its stacks, the steps of a call with their multiply-adds, the tensors, and
// their bytes in each precision.
std::string summary(const Program& program, const families::Tensors& tensors);

}  // namespace ladon::import
