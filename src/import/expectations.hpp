// SPDX-License-Identifier: Apache-2.0
// Refuses models that ladon-import cannot translate. The functions throw Unsupported, which names the reason.
#pragma once

#include <set>
#include <string>

#include "program.hpp"

namespace ladon::import {

// Expects steps that fit each other, names that the program does not have, and a precision that suits the sizes and the
// tensors.
void expect_model(const Description& description, const families::Tensors& tensors, PrecisionKind precision);

// Expects that the checkpoint has all tensors of the program, in the shapes of the description.
void expect_tensors(const Program& program, const families::Tensors& tensors);

// Returns the first name that the checkpoint lacks, or "". Without a checkpoint, `tensors` is empty, and lacks nothing.
std::string missing_tensor(const std::set<std::string>& names, const families::Tensors& tensors);

}  // namespace ladon::import
