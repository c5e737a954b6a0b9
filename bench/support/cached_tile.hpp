// Runs only the micro-kernel of the library, with all inputs in the L1 cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <ladon/detail/linear/micro_kernel.hpp>

namespace ladon::inline LADON_ABI::bench {

// Holds the inputs and the sums of a tile with `Rows` rows and `Packs` packs. multiply() computes all sums, of `Inner`
// terms each, and stores them.
template <class Pack, std::size_t Rows, std::size_t Packs, std::size_t Inner>
class CachedTile {
 public:
  static constexpr std::size_t width = Packs * Pack::lanes;
  static constexpr double flops = 2.0 * Rows * width * Inner;

  // Writes the inputs once. Without these writes, all pages of the inputs would be mapped to a single page of zeros.
  // The tile would then read one cache line through many addresses, which is slow. Measured on Zen 5: without the
  // writes, 16 rows of 256 terms reached 157 GFLOP/s, and 16 rows of 512 terms reached 64 GFLOP/s. With the writes, 16
  // rows of 256 terms reached 232 GFLOP/s.
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
