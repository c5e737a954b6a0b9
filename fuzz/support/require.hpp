// Reports a finding.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace ladon_fuzz {

// Ends the program with a message if a promise of the library does not hold. libFuzzer keeps the input.
inline void require(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

// Requires that a text of the library cannot steer a terminal: printable ASCII, and line feeds between its lines.
inline void require_shown(std::string_view text, std::string_view what) {
  for (const char c : text) require(c == '\n' || (c >= ' ' && c <= '~'), std::string(what) + " is printable ASCII");
}

}  // namespace ladon_fuzz
