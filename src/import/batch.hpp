// SPDX-License-Identifier: Apache-2.0
// Batches of texts: the function run_batch of a program whose input are token ids and that has the function pool.
#pragma once

#include "chain.hpp"

namespace ladon::import {

// Adds run_batch, and what it needs, to the program of the only stack `stack`, which has the functions run and pool.
// Does nothing if the model has another input or another pooler.
void add_batch(Scene& scene, const families::Stack& stack, const Argument& argument);

}  // namespace ladon::import
