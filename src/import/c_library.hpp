// SPDX-License-Identifier: Apache-2.0
// Writes C functions around a Program.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cpp_project.hpp"

namespace ladon::import {

// Returns the sources of the library, which cmake/ladon_add_model.cmake compiles: NAME.h and NAME_c.cpp, the C++ files
// that they include; NAME_image.cpp, a program that writes all weights into one file (model/weight_image.hpp); and
// NAME_module.cmake, which describes the functions for WebAssembly modules.
std::vector<SourceFile> c_library_files(const Program& program);

// A function of NAME.h that computes something.
struct CFunction {
  std::string name;    // "bert_run"
  std::string result;  // "last"
  std::size_t most = 0, width = 0;
  bool has_rows = false;  // it writes the number of rows, `result`_rows
  std::vector<Argument> arguments{};
};
// The functions with the types of tokens, if the model takes types, have names such as "bert_run_with_types".
std::vector<CFunction> c_functions(const Program& program, bool with_types);

// Return the parameters for arguments of the model, and statements that check their lengths and ids.
std::string c_parameters(const std::vector<Argument>& arguments);
std::string c_checks(const std::vector<Argument>& arguments);

}  // namespace ladon::import
