// SPDX-License-Identifier: Apache-2.0
// Messages for broken preconditions, in a checked build (checks.hpp), and for wrong arguments, at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>

#if LADON_CHECKED
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#endif

namespace ladon {

// A string as a template argument. g++ prints the names of Text and Because before the message, so both are outside the
// inline namespace, whose name is long.
template <std::size_t Size>
struct Text {
  char characters[Size];
  constexpr Text(const char (&text)[Size]) noexcept : characters() {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = text[i];
  }
};
template <Text Message>
struct Because {};

}  // namespace ladon

namespace LADON_NAMESPACE::detail {

// The place in the user's code where an argument was made. `file` is null if the place is unknown.
struct Caller {
  const char* file = nullptr;
  unsigned line = 0;

#if LADON_CHECKED
  // Returns the place where a struct with LADON_CALLER_MEMBER is made. The place is unknown if it is in `header`, the
  // file that declares the struct.
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

// `opaque` hides the text from g++, which would otherwise replace fputs by other functions.
LADON_NOINLINE inline void print(const char* text) noexcept { std::fputs(opaque(text), stderr); }

// Without printf, a program needs no code for format strings.
inline void print_number(std::ptrdiff_t number) noexcept {
  char digits[24];
  char* first = digits + sizeof(digits) - 1;
  *first = 0;
  std::size_t rest = static_cast<std::size_t>(number < 0 ? -(number + 1) : number) + (number < 0 ? 1u : 0u);
  do *--first = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (number < 0) *--first = '-';
  print(first);
}

// Prints the place of `caller`, the message, the values and the place of the check, and aborts. If `caller` is unknown,
// the place of the check comes first.
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

template <class T, std::size_t N>
void sized(const std::array<T, N>&);
template <class T, std::size_t N>
void sized(std::span<T, N>);

// A container such as std::vector, but not std::array and std::span.
template <class T>
concept Container = requires(const T& given) {
  given.begin();
  given.size();
} && !requires(const T& given) { sized(given); };

template <class Pointer, class T>
concept OtherPointer = std::is_pointer_v<Pointer> && !std::is_convertible_v<Pointer, T*>;
template <class Pointer>
concept ToBool = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<Pointer>>, bool>;
template <class Pointer, class T>
concept ToConst = std::is_same_v<std::remove_pointer_t<Pointer>, const T>;

}  // namespace LADON_NAMESPACE::detail

// Must be the last member of a struct.
#if LADON_CHECKED
#define LADON_CALLER_MEMBER ::ladon::detail::Caller caller = ::ladon::detail::Caller::outside(__FILE__);
#else
#define LADON_CALLER_MEMBER
#endif

// Overloads for wrong arguments. If a caller passes a wrong argument, the compiler prints the message:
//     LADON_REJECT(message) f(double) LADON_REJECTED;                          a function
//     LADON_REJECT_CONSTRUCTOR(message) Type(double LADON_REASON(message)) LADON_REJECTED;
// clang++ prints the attribute `unavailable`. Other compilers print the signature, which contains the message.
#if defined(__clang__)
#define LADON_REJECT(message) __attribute__((unavailable(message))) static void
#define LADON_REJECT_CONSTRUCTOR(message) __attribute__((unavailable(message)))
#define LADON_REASON(message)
#define LADON_REJECTED
#else
#define LADON_REJECT(message) static ::ladon::Because<message>
#define LADON_REJECT_CONSTRUCTOR(message)
#define LADON_REASON(message) , ::ladon::Because<message> = {}
#define LADON_REJECTED = delete
#endif

// For example LADON_REJECT_CALL(run, "x, weights, y, workspace"). Overload resolution prefers every other function to
// an ellipsis.
#define LADON_REJECT_CALL(function, arguments)                         \
  LADON_REJECT("ladon: the arguments of " #function " are (" arguments \
               "), in this order: an argument is "                     \
               "missing, in another place or of another type")         \
  function(...) LADON_REJECTED

#define LADON_MISTAKEN_CONTAINER                                                                        \
  "ladon: the size of a container such as std::vector is not known to the compiler: give v.data(), or " \
  "std::span(v).first<N>() with the size N that the shape asks for"
#define LADON_MISTAKEN_BOOL                                                                                  \
  "ladon: a mask has elements of std::uint8_t, not bool; 1 shows a key, 0 hides it: store std::uint8_t, or " \
  "give reinterpret_cast<const std::uint8_t*>(mask)"
#define LADON_MISTAKEN_CONST "ladon: the call writes this array, so the array must not be const"
#define LADON_MISTAKEN_ELEMENTS                                                                                     \
  "ladon: an array with elements of another type: tensors are float, masks std::uint8_t or std::uint32_t. Weights " \
  "have the type of the model's .precision: convert the elements, or choose their precision"
