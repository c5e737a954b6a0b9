// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ladon::import {

// Returns the largest difference of the tensors `last` of two files, divided by the largest magnitude in `recorded`.
// Throws Error if a file lacks the tensor, or if the shapes differ. A first extent of 1 counts as a batch.
double largest_error(const std::string& recorded, const std::string& computed);

}  // namespace ladon::import
