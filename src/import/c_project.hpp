// SPDX-License-Identifier: Apache-2.0
// Writes a CMake project around the C functions of a Program.
#pragma once

#include <vector>

#include "cpp_project.hpp"

namespace ladon::import {

struct CChoices {
  bool dispatch = false;            // code for several instruction sets
  bool maps_weights = false;        // the program gives the weights to NAME_start
  bool has_weights_folder = false;  // the weights are in the folder "weights" of the project
};
// Returns the sources of the library (c_library_files), and NAME_check.cpp, a program that checks the library on this
// machine.
std::vector<SourceFile> checked_c_library_files(const Program& program);

// Returns these files, and main.c, CMakeLists.txt and NAME_board.cpp, a program that checks the library on a board in
// QEMU.
std::vector<SourceFile> c_project_files(const Program& program, const CChoices& choices);

}  // namespace ladon::import
