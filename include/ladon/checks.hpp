// Preconditions: what only run time knows and the caller promises. A checked build says which promise was broken and
// aborts; in another one LADON_EXPECTS is nothing at all (simd/abi.hpp says which is which). In constant evaluation a
// broken promise of a checked build does not compile.
#pragma once

#include <ladon/detail/target/compiler.hpp>

#if LADON_CHECKED
#include <cstdio>
#include <cstdlib>

namespace ladon::inline LADON_ABI {

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
