// SPDX-License-Identifier: Apache-2.0
// Batches of texts: the function run_batch of a program whose input are token ids, and which makes one row of a text.
#pragma once

#include "chain.hpp"

namespace ladon::import {

// Returns the result that run_batch computes: the answer of a classifier, or else the pooled row; null if there is
// none.
const Result* batch_result(const Program& program);

// Adds run_batch, and what it needs, to the program of the only stack `stack`. Does nothing if the model has another
// input or no such result, or is a language model.
void add_batch(Scene& scene, const families::Stack& stack, const Argument& argument);

}  // namespace ladon::import
