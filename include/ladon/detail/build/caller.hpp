// SPDX-License-Identifier: Apache-2.0
// Records the place in a caller's source code: file and line. The message of a broken precondition begins with this
// place (checks.hpp).
#pragma once

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail {

// The place in the user's source code where an argument of a call was made: options, weights or a share. `file` is null
// if the place is unknown.
struct Caller {
  const char* file = nullptr;
  unsigned line = 0;

#if LADON_CHECKED
  // Returns the file and line where the program initialises an object. Only the default initialiser of a member may
  // call this function. `header` is the file that declares the member. If the program declares the object without an
  // initialiser, the compiler passes the place of the member: `file` equals `header`. The function then returns an
  // unknown place.
  static constexpr Caller outside(const char* header, const char* file = __builtin_FILE(),
                                  unsigned line = __builtin_LINE()) noexcept {
    const char* other = file;
    while (*header != 0 && *header == *other) ++header, ++other;
    return *header == *other ? Caller{} : Caller{file, line};
  }
#endif
};

// Returns the member `caller` of a struct, or an unknown place if the struct has no such member.
template <class Aggregate>
LADON_INLINE constexpr Caller caller_of([[maybe_unused]] const Aggregate& aggregate) noexcept {
  if constexpr (requires { aggregate.caller; }) {
    return aggregate.caller;
  } else {
    return {};
  }
}

}  // namespace LADON_NAMESPACE::detail

// Declares `caller`, which must be the last member of a struct. In an unchecked build, declares nothing.
#if LADON_CHECKED
#define LADON_CALLER_MEMBER ::ladon::detail::Caller caller = ::ladon::detail::Caller::outside(__FILE__);
#else
#define LADON_CALLER_MEMBER
#endif
