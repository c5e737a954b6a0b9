// SPDX-License-Identifier: Apache-2.0
// Where an argument was made, and the end of a program that breaks a precondition, in a checked build (checks.hpp).
#pragma once

#include <ladon/detail/config/compiler.hpp>

#if LADON_CHECKED
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#endif

namespace LADON_NAMESPACE::detail {

// The place in the user's code where an argument was made. `file` is null if the place is unknown.
struct Caller {
  const char* file = nullptr;
  unsigned line = 0;

#if LADON_CHECKED
  // Only for the default initialiser of a member. If `header` is the file of the member, the program gave no
  // initialiser, and the place is unknown.
  static constexpr Caller outside(const char* header, const char* file = __builtin_FILE(),
                                  unsigned line = __builtin_LINE()) noexcept {
    const char* other = file;
    while (*header != 0 && *header == *other) ++header, ++other;
    return *header == *other ? Caller{} : Caller{file, line};
  }
#endif
};

template <class Aggregate>
LADON_INLINE constexpr Caller caller_of([[maybe_unused]] const Aggregate& aggregate) noexcept {
  if constexpr (requires { aggregate.caller; }) {
    return aggregate.caller;
  } else {
    return {};
  }
}

#if LADON_CHECKED
struct Value {
  const char* name;
  std::ptrdiff_t number;
  template <class Number>
  constexpr Value(const char* name_given, Number number_given) noexcept
      : name(name_given), number(static_cast<std::ptrdiff_t>(number_given)) {}
};

// `opaque` hides the text from g++, which would otherwise replace fputs by further functions.
LADON_NOINLINE inline void print(const char* text) noexcept { std::fputs(opaque(text), stderr); }

// Without printf, a program needs no code for format strings.
inline void print_number(std::ptrdiff_t number) noexcept {
  char digits[24];
  char* first = digits + sizeof(digits) - 1;
  *first = 0;
  std::size_t rest = static_cast<std::size_t>(number < 0 ? -(number + 1) : number) + (number < 0 ? 1 : 0);
  do *--first = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (number < 0) *--first = '-';
  print(first);
}

// Prints the place of the call, or of the check if `caller` is unknown, and aborts.
[[noreturn]] LADON_NOINLINE inline void broken_precondition(const char* file, unsigned line, const char* message,
                                                            Caller caller = {},
                                                            std::initializer_list<Value> values = {}) noexcept {
  const auto print_place = [](const char* before, const char* name, unsigned number, const char* after) {
    print(before);
    print(name);
    print(":");
    print_number(static_cast<std::ptrdiff_t>(number));
    print(after);
  };
  const bool known = caller.file != nullptr;
  print_place("", known ? caller.file : file, known ? caller.line : line, ": ");
  print(message);
  const char* before = ": ";
  for (const Value& value : values) {
    print(before);
    print(value.name);
    print(" = ");
    print_number(value.number);
    before = ", ";
  }
  if (known) print_place(" (checked at ", file, line, ")");
  print("\n");
  std::abort();
}
#endif

}  // namespace LADON_NAMESPACE::detail

// Must be the last member of a struct.
#if LADON_CHECKED
#define LADON_CALLER_MEMBER ::ladon::detail::Caller caller = ::ladon::detail::Caller::outside(__FILE__);
#else
#define LADON_CALLER_MEMBER
#endif
