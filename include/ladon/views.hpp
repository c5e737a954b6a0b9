// SPDX-License-Identifier: Apache-2.0
// Views of the caller's arrays. A view owns nothing, and its type contains the sizes of the array.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/config/errors.hpp>

namespace LADON_NAMESPACE {

// A view of an array in row-major order. The array needs only the alignment of T. An array, a std::array or a std::span
// of another size does not compile. A pointer must point to `size` elements.
template <class T, std::size_t... Extents>
struct TensorView {
  static constexpr std::size_t size = (Extents * ... * 1);
  T* data = nullptr;

  constexpr TensorView() noexcept = default;
  template <class Pointer>
    requires std::is_pointer_v<Pointer> && std::is_convertible_v<Pointer, T*>
  constexpr TensorView(Pointer pointer) noexcept : data(pointer) {}
  template <class U, std::size_t N>
  constexpr TensorView(U (&array)[N]) noexcept : TensorView(first(array)) {
    check_extent<sizeof(array) / sizeof(T)>();
  }
  template <class U, std::size_t N>
  constexpr TensorView(std::array<U, N>& array) noexcept : TensorView(array.data()) {
    check_extent<N>();
  }
  template <class U, std::size_t N>
  constexpr TensorView(const std::array<U, N>& array) noexcept : TensorView(array.data()) {
    check_extent<N>();
  }
  template <class U, std::size_t N>
  constexpr TensorView(std::span<U, N> span) noexcept : TensorView(span.data()) {
    static_assert(N != std::dynamic_extent,
                  "ladon: the size of this span is not known to the compiler; give span.first<N>() or a pointer");
    check_extent<N>();
  }
  template <class U>
    requires(!std::is_const_v<U> && std::is_same_v<const U, T>)
  constexpr TensorView(const TensorView<U, Extents...>& other) noexcept : data(other.data) {}

  // These constructors reject frequent mistakes (detail/config/errors.hpp).
  template <detail::Container Given>
  LADON_REJECT_CONSTRUCTOR(LADON_MISTAKEN_CONTAINER)
  constexpr TensorView(const Given& given LADON_REASON(LADON_MISTAKEN_CONTAINER)) noexcept LADON_REJECTED;
  template <detail::OtherPointer<T> Given>
    requires(!detail::ToBool<Given> && !detail::ToConst<Given, T>)
  LADON_REJECT_CONSTRUCTOR(LADON_MISTAKEN_ELEMENTS)
  constexpr TensorView(Given given LADON_REASON(LADON_MISTAKEN_ELEMENTS)) noexcept LADON_REJECTED;
  template <detail::OtherPointer<T> Given>
    requires detail::ToBool<Given>
  LADON_REJECT_CONSTRUCTOR(LADON_MISTAKEN_BOOL)
  constexpr TensorView(Given given LADON_REASON(LADON_MISTAKEN_BOOL)) noexcept LADON_REJECTED;
  template <detail::OtherPointer<T> Given>
    requires detail::ToConst<Given, T>
  LADON_REJECT_CONSTRUCTOR(LADON_MISTAKEN_CONST)
  constexpr TensorView(Given given LADON_REASON(LADON_MISTAKEN_CONST)) noexcept LADON_REJECTED;

 private:
  template <std::size_t Given>
  static constexpr void check_extent() noexcept {
    static_assert(
        Given == size,
        "ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents");
  }
  template <class U, std::size_t N>
  static constexpr auto first(U (&array)[N]) noexcept {
    if constexpr (std::is_array_v<U>) {
      return first(array[0]);
    } else {
      return &array[0];
    }
  }
};

template <class T, std::size_t Rows, std::size_t Columns>
using MatrixView = TensorView<T, Rows, Columns>;
template <class T, std::size_t Size>
using VectorView = TensorView<T, Size>;

// Whether a linear map has a bias. Without a bias, each sum of the product starts at 0.
enum class Bias { with, without };

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
