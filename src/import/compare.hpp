// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ladon::import {

// Compares the tensors `last`, `pooled` and `answer` of two files, as far as `recorded` has them. Returns the largest
// difference, divided by the largest magnitude of the recorded tensor. Throws Error if `recorded` has none of them, if
// `computed` lacks one, or if the shapes differ. First extents of 1 count as batches.
double largest_error(const std::string& recorded, const std::string& computed);

}  // namespace ladon::import
