// Views of the caller's numbers: sizes in the type, nothing owned, nothing copied.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI {

// Extents... numbers in row-major order, the last index running fastest. Made from an array, std::array or std::span of
// just that many numbers, or from a pointer, which is taken at its word. Any float's address will do.
template <class T, std::size_t... Extents>
struct Tensor {
  static constexpr std::size_t size = (Extents * ... * 1);
  T* data = nullptr;

  constexpr Tensor() noexcept = default;
  template <class Pointer>
    requires std::is_pointer_v<Pointer> && std::is_convertible_v<Pointer, T*>
  constexpr Tensor(Pointer pointer) noexcept : data(pointer) {}
  template <class U, std::size_t N>
  constexpr Tensor(U (&array)[N]) noexcept : data(first(array)) {
    check<sizeof(array) / sizeof(T)>();
  }
  template <class U, std::size_t N>
  constexpr Tensor(std::array<U, N>& array) noexcept : data(array.data()) {
    check<N>();
  }
  template <class U, std::size_t N>
  constexpr Tensor(const std::array<U, N>& array) noexcept : data(array.data()) {
    check<N>();
  }
  template <class U, std::size_t N>
  constexpr Tensor(std::span<U, N> span) noexcept : data(span.data()) {
    static_assert(N != std::dynamic_extent,
                  "ladon: the size of this span is not known to the compiler; give span.first<N>() or a pointer");
    check<N>();
  }
  template <class U>
    requires(!std::is_const_v<U> && std::is_same_v<const U, T>)
  constexpr Tensor(const Tensor<U, Extents...>& other) noexcept : data(other.data) {}

 private:
  template <std::size_t Given>
  static constexpr void check() noexcept {
    static_assert(Given == size, "ladon: an array of Given numbers where the shape asks for Extents of them");
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
using Matrix = Tensor<T, Rows, Columns>;
template <class T, std::size_t Size>
using Vector = Tensor<T, Size>;

// Whether a product adds a bias. Where it does not there is none in memory either, and its sum starts at 0.
enum class Bias { with, without };

}  // namespace ladon::inline LADON_ABI
