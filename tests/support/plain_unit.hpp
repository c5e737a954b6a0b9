// A matrix unit in plain C++ (detail/vec/matrix_unit.hpp), so that every machine can test products and attention in a
// unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ladon/bfloat16.hpp>

namespace ladon_test {

// Registers of `rows` rows of `row_bytes` bytes, of which features and sums use Lanes tuples.
struct PlainUnit {
  static constexpr std::size_t rows = 16, row_bytes = 64;
  template <class Element, std::size_t Features, std::size_t Lanes>
  static constexpr bool fits = Features * sizeof(Element) % row_bytes == 0;

  static inline std::uint8_t tile[8][rows][row_bytes];
  static inline std::size_t lanes, begun, ended;
  static constexpr bool ready() { return true; }

  template <std::size_t Lanes>
  static void begin() {
    lanes = Lanes;
    ++begun;
    std::memset(tile, 0xff, sizeof(tile));
  }
  static void end() { ++ended; }
  static std::size_t bytes(int number) { return number == 4 || number == 5 ? row_bytes : 4 * lanes; }
  template <int Tile>
  static void zero() {
    std::memset(tile[Tile], 0, sizeof(tile[Tile]));
  }
  template <int Tile>
  static void load(const void* from, std::size_t stride) {
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(tile[Tile][r], static_cast<const std::uint8_t*>(from) + r * stride, bytes(Tile));
    }
  }
  template <int Tile>
  static void store(void* to, std::size_t stride) {
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(static_cast<std::uint8_t*>(to) + r * stride, tile[Tile][r], bytes(Tile));
    }
  }
  template <class Weight, int Sums, int W, int X>
  static void add() {
    using SumType = std::conditional_t<sizeof(Weight) == 1, std::int32_t, float>;
    using Feature = std::conditional_t<sizeof(Weight) == 1, std::uint8_t, ladon::BFloat16>;
    constexpr std::size_t tuple_size = 4 / sizeof(Weight);
    const auto value = [](const auto& x) {
      if constexpr (sizeof(Weight) == 1) {
        return SumType{x};
      } else {
        return ladon::to_float(x);
      }
    };
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t t = 0; t < lanes; ++t) {
        SumType sum;
        std::memcpy(&sum, tile[Sums][r] + 4 * t, 4);
        for (std::size_t k = 0; k < row_bytes / sizeof(Weight); ++k) {
          Weight w;
          Feature x;
          std::memcpy(&w, tile[W][r] + k * sizeof(w), sizeof(w));
          std::memcpy(&x, tile[X][k / tuple_size] + (t * tuple_size + k % tuple_size) * sizeof(x), sizeof(x));
          sum += value(w) * value(x);
        }
        std::memcpy(tile[Sums][r] + 4 * t, &sum, 4);
      }
    }
  }
};

}  // namespace ladon_test
