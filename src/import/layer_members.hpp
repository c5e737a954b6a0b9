// SPDX-License-Identifier: Apache-2.0
// The tensors that the layers of a stack take from a checkpoint.
#pragma once

#include <filesystem>
#include <ladon/model.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace ladon::import {

// Returns the lines that ladon::safetensors::load makes of the type of the stack (src/weights/spec.hpp).
std::string layer_members(const Model& model, bool attends_memory);

// Returns which linear maps of a stack with 4-bit weights get int8 weights (LoadOptions::int8_members), and sets
// `share` to the bytes of the matrices of the layers, divided by those of int8. Each map whose name has a match of one
// of `choices.keep` gets 8 bits. Then, as long as `choices.budget` suffices, all maps of the last layers get 8 bits,
// then the projections of values and then those of outputs, from the last layer on (docs/precision.md). Throws
// Unsupported.
std::vector<std::string> int8_members(Model model, bool attends_memory, const Choices& choices, double& share);

// Throws Error with a line for each tensor of the layers that the checkpoint in `folder` lacks, or that has another
// shape, as the program's `load` would. `folder` has safetensors files. `name` is the name of the model's file in
// errors.
void expect_layers(const std::filesystem::path& folder, const Program& program, const std::string& name);

}  // namespace ladon::import
