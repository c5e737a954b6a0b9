// Preconditions on values that are known only at run time, so the compiler cannot check them.
//
// A checked build prints the broken precondition and aborts. In constant evaluation, a broken precondition of a checked
// build is a compile error. In an unchecked build, LADON_EXPECTS generates no code, and a broken precondition is
// undefined behaviour. LADON_CHECKED selects the kind of build (detail/target/abi.hpp).
#pragma once

#include <ladon/detail/target/compiler.hpp>

#if LADON_CHECKED
#include <cstdio>
#include <cstdlib>

namespace ladon::inline LADON_ABI {

// Prints `what` to stderr and aborts.
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
