// SPDX-License-Identifier: Apache-2.0
// Overloads for wrong arguments. If a caller passes one, the compiler prints the message:
//     LADON_REJECT(message) f(double) LADON_REJECTED;                          a function
//     LADON_REJECT_CONSTRUCTOR(message) Type(double LADON_REASON(message)) LADON_REJECTED;
// clang++ prints the attribute `unavailable`. Other compilers print the signature, so the message is a part of it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <ladon/detail/config/abi.hpp>

namespace LADON_NAMESPACE::detail {

// A string as a template argument.
template <std::size_t Size>
struct Text {
  char characters[Size];
  constexpr Text(const char (&text)[Size]) noexcept : characters() {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = text[i];
  }
};
template <Text Message>
struct Because {};

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

#if defined(__clang__)
#define LADON_REJECT(message) __attribute__((unavailable(message))) static void
#define LADON_REJECT_CONSTRUCTOR(message) __attribute__((unavailable(message)))
#define LADON_REASON(message)
#define LADON_REJECTED
#else
#define LADON_REJECT(message) static ::ladon::detail::Because<message>
#define LADON_REJECT_CONSTRUCTOR(message)
#define LADON_REASON(message) , ::ladon::detail::Because<message> = {}
#define LADON_REJECTED = delete
#endif

// For example LADON_REJECT_CALL(run, "x, weights, y, workspace"). Every other overload is better than an ellipsis.
#define LADON_REJECT_CALL(function, arguments)                         \
  LADON_REJECT("ladon: the arguments of " #function " are (" arguments \
               "), in this order: an argument is "                     \
               "missing, in another place or of another type")         \
  function(...) LADON_REJECTED

// For views (views.hpp).
#define LADON_MISTAKEN_CONTAINER                                                                        \
  "ladon: the size of a container such as std::vector is not known to the compiler: give v.data(), or " \
  "std::span(v).first<N>() with the size N that the shape asks for"
#define LADON_MISTAKEN_BOOL                                                                                  \
  "ladon: a mask has elements of std::uint8_t, not bool; 1 shows a key, 0 hides it: store std::uint8_t, or " \
  "give reinterpret_cast<const std::uint8_t*>(mask)"
#define LADON_MISTAKEN_CONST "ladon: the call writes this array, so the array must not be const"
#define LADON_MISTAKEN_ELEMENTS                                                                                 \
  "ladon: an array with elements of another type: tensors are float, masks std::uint8_t or std::uint32_t, and " \
  "int8 weights std::int8_t: convert the elements first"
