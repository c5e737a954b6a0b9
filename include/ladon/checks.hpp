// SPDX-License-Identifier: Apache-2.0
// Checks preconditions on values that are known only at run time. The compiler cannot check these preconditions.
//
// LADON_CHECKED selects whether the build is checked (detail/target/abi.hpp). In a checked build, LADON_EXPECTS prints
// the broken precondition and aborts. If a precondition is broken during constant evaluation in a checked build,
// compilation fails. In an unchecked build, LADON_EXPECTS generates no code, and a broken precondition is undefined
// behaviour.
#pragma once

#include <ladon/detail/target/compiler.hpp>

#if LADON_CHECKED
#include <cstdio>
#include <cstdlib>

namespace ladon::inline LADON_ABI {

// Prints `what`, the message of a broken precondition, to stderr and aborts.
[[noreturn]] LADON_NOINLINE inline void broken_promise(const char* what) noexcept {
  std::fputs(what, stderr);
  std::abort();
}

}  // namespace ladon::inline LADON_ABI

#define LADON_TEXT_AS_WRITTEN(x) #x
#define LADON_TEXT(x) LADON_TEXT_AS_WRITTEN(x)
#define LADON_EXPECTS(condition, message) \
  ((condition) ? static_cast<void>(0) : ::ladon::broken_promise(__FILE__ ":" LADON_TEXT(__LINE__) ": " message "\n"))
#else
#define LADON_EXPECTS(condition, message) static_cast<void>(0)
#endif
