// SPDX-License-Identifier: Apache-2.0
// Writes a Program as the files of a CMake project.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace ladon::import {

// The beginning of the first line of each file: the importer replaces only files that begin so.
std::string file_mark(bool is_cmake);

// Replaces each of the words, such as "@NAME@", in a text.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values);

// Returns the lines of a CMakeLists.txt that find Ladon: its sources in LADON_SOURCE_DIR, or an installed copy that has
// the component, such as "safetensors".
std::string find_ladon(const std::string& component);

struct SourceFile {
  std::string name;
  std::string text;
};
// Returns the statement that reads an argument from `records`, and the arguments of a call that pass it.
std::string read_argument(const Argument& argument, const std::string& space);
std::string pass_argument(const Argument& argument);

// In a model of several stacks, returns the statements in an `if`: `records` has the inputs of the stack `run`.
std::string if_given(const Program& program, const Result& run, const std::string& statements);

// Returns NAME.hpp, NAME_weights.hpp, NAME_weights.cpp, main.cpp and CMakeLists.txt.
std::vector<SourceFile> cpp_project_files(const Program& program);

// Return the files of folders inside the model's folder, as definitions behind `folder`, and as arguments of load.
std::string other_files(const Program& program);
std::string other_arguments(const Program& program);

}  // namespace ladon::import
