// Checks the promises of the library. If a promise is broken, ends the program, which libFuzzer reports as a finding.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace ladon_fuzz {

// Ends the program with a message if a promise of the library does not hold. libFuzzer then stores the input.
inline void require(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

// Requires that a text of the library has only printable ASCII characters and line feeds, so that the text cannot send
// control sequences to a terminal. `what` names the text.
inline void require_shown(std::string_view text, std::string_view what) {
  for (const char c : text) require(c == '\n' || (c >= ' ' && c <= '~'), std::string(what) + " is printable ASCII");
}

}  // namespace ladon_fuzz
