// Defines the parts of C++20's library that tests and examples use, but that are missing in old versions of Emscripten
// (libc++ of LLVM 13). With versions before 3.1.40, the compiler includes this header before all other headers, so that
// the programs need no special code. The ranges in this header support only begin() and end(), and do not check
// concepts.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <utility>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000
namespace std {

#if !defined(__cpp_lib_bit_cast)
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
#endif

namespace ranges {

template <class Order, class Projection>
constexpr auto by(Order order, Projection projection) {
  return [=](const auto& a, const auto& b) -> bool {
    return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
  };
}

template <class Range, class F>
constexpr bool all_of(Range&& range, F f) {
  return std::all_of(std::begin(range), std::end(range), f);
}
template <class Range, class F>
constexpr bool any_of(Range&& range, F f) {
  return std::any_of(std::begin(range), std::end(range), f);
}
template <class Range, class F>
constexpr bool none_of(Range&& range, F f) {
  return std::none_of(std::begin(range), std::end(range), f);
}
template <class Range, class T>
constexpr auto count(Range&& range, const T& value) {
  return std::count(std::begin(range), std::end(range), value);
}
template <class Range, class F>
constexpr auto find_if(Range&& range, F f) {
  return std::find_if(std::begin(range), std::end(range), f);
}
template <class Range, class F = std::equal_to<>>
constexpr auto adjacent_find(Range&& range, F f = {}) {
  return std::adjacent_find(std::begin(range), std::end(range), f);
}
template <class A, class B>
constexpr bool equal(A&& a, B&& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <class Range, class Order = std::less<>, class Projection = std::identity>
constexpr auto max_element(Range&& range, Order order = {}, Projection projection = {}) {
  return std::max_element(std::begin(range), std::end(range), by(order, projection));
}
template <class Range, class Order = std::less<>, class Projection = std::identity>
constexpr auto max(Range&& range, Order order = {}, Projection projection = {}) {
  return *ranges::max_element(range, order, projection);
}
template <class Range, class Order = std::less<>, class Projection = std::identity>
constexpr void sort(Range&& range, Order order = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range), by(order, projection));
}
template <class Range, class T>
constexpr void fill(Range&& range, const T& value) {
  std::fill(std::begin(range), std::end(range), value);
}
template <class Range, class To>
constexpr void copy(Range&& range, To to) {
  std::copy(std::begin(range), std::end(range), to);
}

}  // namespace ranges
}  // namespace std
#endif
