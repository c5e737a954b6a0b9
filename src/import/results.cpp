// SPDX-License-Identifier: Apache-2.0
// The results of a program: which function computes them, and from what.
#include <algorithm>
#include <vector>

#include "program.hpp"

namespace ladon::import {

const Result* result_of(const Program& program, const std::string& function) {
  const auto found = std::find_if(program.results.begin(), program.results.end(),
                                  [&](const Result& result) { return result.function == function; });
  return found == program.results.end() ? nullptr : &*found;
}

bool is_run(const Result& result) { return result.function == "run" || result.function.starts_with("run_"); }

const Result* source_of(const Program& program, const Result& result) {
  if (is_run(result)) return nullptr;
  const auto found = std::ranges::find(program.results, result.arguments[0].name, &Result::name);
  return found == program.results.end() ? nullptr : &*found;
}

const Result& run_of(const Program& program, const Result& result) {
  const Result* const source = source_of(program, result);
  return source == nullptr ? result : run_of(program, *source);
}

std::vector<const Result*> runs_of(const Program& program) {
  std::vector<const Result*> runs;
  for (const Result& result : program.results)
    if (is_run(result)) runs.push_back(&result);
  return runs;
}

std::vector<Argument> inputs_of(const Program& program) {
  std::vector<Argument> inputs;
  for (const Result* run : runs_of(program)) inputs.insert(inputs.end(), run->arguments.begin(), run->arguments.end());
  return inputs;
}

bool takes_types(const Program& program) {
  const Result* const run = result_of(program, "run");
  return run != nullptr && !run->arguments[0].types.empty();
}

bool takes_tables(const Program& program, const std::string& function) {
  return std::any_of(program.functions.begin(), program.functions.end(), [&](const Function& f) {
    return f.signature.find(" " + function + "(") != f.signature.npos &&
           f.signature.find("Tables&") != f.signature.npos;
  });
}

}  // namespace ladon::import
