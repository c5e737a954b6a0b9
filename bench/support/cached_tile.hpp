// Runs only the innermost loop of matrix products (detail/product/tile.hpp) on data in the L1 cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <ladon/detail/product/tile.hpp>

namespace LADON_NAMESPACE::bench {

// Holds the inputs and the results of a small matrix product. The result has `Rows` rows and Packs * Pack::lanes
// columns. multiply() computes and stores all results. Each result is a sum of `Inner` products.
template <class Pack, std::size_t Rows, std::size_t Packs, std::size_t Inner>
class CachedTile {
 public:
  using Dot = detail::EachPack<detail::vec::FloatDot<Pack>, Pack::lanes>;
  static constexpr std::size_t width = Packs * Pack::lanes;
  static constexpr double flops = 2.0 * Rows * width * Inner;

  // Writes the inputs once. Without these writes, the system would map all pages of the inputs to a single page of
  // zeros. The tile would then read one cache line through many addresses, which is slow. Measured on Zen 5, for 16
  // rows of 256 terms: 157 GFLOP/s without the writes, and 232 GFLOP/s with them.
  CachedTile() {
    std::fill(std::begin(rows_), std::end(rows_), 1.0f);
    std::fill(std::begin(panel_), std::end(panel_), 1.0f);
  }

  LADON_INLINE void multiply() {
    detail::MicroKernel<Dot, Rows, Packs> tile([](auto, auto) { return Pack::broadcast(0.0f); });
    tile.template accumulate<width>(Inner, detail::WeightMatrix<float, Inner, 1>{rows_}, panel_);
    tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) { sum.store(out_ + r * width + v * Pack::lanes); });
    asm volatile("" : : "r"(out_) : "memory");
  }

 private:
  alignas(64) float rows_[Rows * Inner];
  alignas(64) float panel_[Inner * width];
  alignas(64) float out_[Rows * width];
};

}  // namespace LADON_NAMESPACE::bench
