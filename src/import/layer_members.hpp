// SPDX-License-Identifier: Apache-2.0
// The tensors that the layers of a stack take from a checkpoint.
#pragma once

#include <filesystem>
#include <ladon/model.hpp>
#include <string>

#include "program.hpp"

namespace ladon::import {

// Returns the lines that ladon::safetensors::load makes of the type of the stack (src/weights/spec.hpp).
std::string layer_members(const Model& model, bool attends_memory);

// Throws Error with a line for each tensor of the layers that the checkpoint in `folder` lacks, or that has another
// shape, as the program's `load` would. `folder` has safetensors files. `name` is the name of the model's file in
// errors.
void expect_layers(const std::filesystem::path& folder, const Program& program, const std::string& name);

}  // namespace ladon::import
