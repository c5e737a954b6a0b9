// SPDX-License-Identifier: Apache-2.0
// Calls `run` of the imported model last_token in a checked build with one token more than it has room for. `run` ends
// the program with a message of its own, before its first step writes behind the workspace.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "last_token.hpp"

int main() {
  std::signal(SIGABRT, [](int) { std::_Exit(1); });  // CTest counts a crash as a failure
  const std::array<std::int32_t, last_token::most_tokens + 1> ids{};
  static float last[last_token::most_last_rows * last_token::last_width];
  static last_token::Workspace workspace;
  last_token::run(ids.data(), ids.size(), {}, {}, last, workspace);
  std::puts("no check failed");
  return 0;
}
