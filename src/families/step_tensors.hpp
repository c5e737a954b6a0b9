// SPDX-License-Identifier: Apache-2.0
// The tensors that steps read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "description.hpp"

namespace ladon::families {

// Adds text before the names of the tensors of steps, except names in other folders.
void add_prefix(std::vector<Step>& steps, const std::string& prefix);

struct NamedShape {
  std::string name;
  std::vector<std::size_t> shape;
};
// Returns the tensors that the steps before and behind the layers of a stack read. A checkpoint may have them with more
// or fewer dimensions of length 1 in front.
std::vector<NamedShape> tensors_of(const Stack& stack);
// Returns the tensors of one step that reads rows of `features` numbers.
std::vector<NamedShape> tensors_of(const Step& step, std::size_t features);

// Adapts the steps to what a checkpoint has. Removes the pooler if the checkpoint lacks it, as many checkpoints do.
// Replaces tables that the checkpoint of a decoder lacks, and uses the table that its head has.
void adapt(Stack& stack, const Tensors& tensors);

}  // namespace ladon::families
