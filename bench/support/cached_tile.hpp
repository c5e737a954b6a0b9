// The library's micro-kernel alone, with everything that it reads in the nearest cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <ladon/detail/linear/micro_kernel.hpp>

namespace ladon::inline LADON_ABI::bench {

// Sums of so many terms, stored when they are done.
template <class Pack, std::size_t Rows, std::size_t Packs, std::size_t Inner>
class CachedTile {
 public:
  static constexpr std::size_t width = Packs * Pack::lanes;
  static constexpr double flops = 2.0 * Rows * width * Inner;

  // Static memory that nobody wrote to is one page of zeros many times over, and to read one line of a cache by many
  // addresses is slow: 16 rows of 256 terms got 157 GFLOP/s instead of 232 (Zen 5), 16 of 512 only 64.
  CachedTile() {
    std::fill(std::begin(rows_), std::end(rows_), 1.0f);
    std::fill(std::begin(panel_), std::end(panel_), 1.0f);
  }

  LADON_INLINE void multiply() {
    detail::MicroKernel<Pack, Rows, Packs> tile([](auto, auto) { return Pack::broadcast(0.0f); });
    tile.template accumulate<width>(Inner, detail::WeightMatrix<float, Inner, 1>{rows_}, panel_);
    tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) { sum.store(out_ + r * width + v * Pack::lanes); });
    asm volatile("" : : "r"(out_) : "memory");
  }

 private:
  alignas(64) float rows_[Rows * Inner];
  alignas(64) float panel_[Inner * width];
  alignas(64) float out_[Rows * width];
};

}  // namespace ladon::inline LADON_ABI::bench
