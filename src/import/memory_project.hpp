// SPDX-License-Identifier: Apache-2.0
// A CMake project whose program prints the memory that a model needs. The compiler knows these sizes: they are those of
// the types in NAME.hpp.
#pragma once

#include <span>
#include <vector>

#include "cpp_project.hpp"

namespace ladon::import {

// Returns the headers of the programs, memory.cpp and CMakeLists.txt. The programs are those of one model, each with
// another precision and another name.
std::vector<SourceFile> memory_project_files(std::span<const Program> programs);

}  // namespace ladon::import
