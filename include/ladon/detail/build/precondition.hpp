// SPDX-License-Identifier: Apache-2.0
// Prints a message and ends a program that breaks a precondition, in a checked build (checks.hpp).
#pragma once

#include <ladon/detail/build/caller.hpp>
#include <ladon/detail/build/compiler.hpp>

#if LADON_CHECKED
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace LADON_NAMESPACE::detail {

// A name and a number that the message of a broken precondition prints.
struct Value {
  const char* name;
  std::ptrdiff_t number;
  template <class Number>
  constexpr Value(const char* name_given, Number number_given) noexcept
      : name(name_given), number(static_cast<std::ptrdiff_t>(number_given)) {}
};

// Prints `text` to stderr. `opaque` hides the text from the compiler. Otherwise, g++ would replace fputs by fputc or
// fwrite for a short text, and the program would need these functions, too.
LADON_NOINLINE inline void print(const char* text) noexcept { std::fputs(opaque(text), stderr); }

// Prints `number` in decimal. The function does not call printf, so that a program needs no code for format strings.
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

// Prints a broken precondition to stderr and aborts. The text begins with the place of the call in the user's source
// code, or, if `caller` is unknown, with the place of the check (`file` and `line`).
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

}  // namespace LADON_NAMESPACE::detail
#endif
