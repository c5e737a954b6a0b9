// SPDX-License-Identifier: Apache-2.0
// Copies windows of the caller's array into panels, one window for each token. Windows are the patches of an image, or
// the rows that a convolution multiplies. A type `Windows` describes windows:
//     numbers        the array; numbers outside the array are 0
//     run            how many numbers of a window are adjacent; a divisor of the window's size
//     start(t)       the index of the first number of the window of token t, below 0 for a number before the array
//     offset(r)      the distance from start(t) to run number r
//     feature(n)     the feature that number n of a window becomes; run r has the numbers from r * run on
#pragma once

#include <cstddef>

#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail {

struct PaddedNumbers {
  const float* data;
  std::size_t size;

  // Reads `count` numbers from index `at` on. The other lanes are 0.
  template <class Pack>
  LADON_INLINE constexpr Pack load(std::ptrdiff_t at, std::size_t count) const noexcept {
    const auto first = static_cast<std::size_t>(at);
    if (at < 0 || first + count > size) return load_with_zeros<Pack>(at, count);
    return count == Pack::lanes ? Pack::load(data + first) : Pack::load_partial(data + first, count);
  }

 private:
  template <class Pack>
  LADON_NOINLINE constexpr Pack load_with_zeros(std::ptrdiff_t at, std::size_t count) const noexcept {
    const auto end = at + static_cast<std::ptrdiff_t>(count), numbers = static_cast<std::ptrdiff_t>(size);
    if (end <= 0 || at >= numbers) return Pack::broadcast(0.0f);
    float lane[Pack::lanes]{};
    for (std::ptrdiff_t i = at < 0 ? 0 : at; i < end && i < numbers; ++i) lane[i - at] = data[i];
    return Pack::load(lane);
  }
};

// Writes the windows of `tokens` to `panels` [panels][Features][T.width()]. Lanes without a token become 0.
template <class Pack, PanelLayout T, std::size_t Features, class Windows>
constexpr void windows_to_panels(const Windows& windows, Range tokens, float* panels) noexcept {
  constexpr std::size_t lanes = Pack::lanes, run = Windows::run;
  static_assert(Features % run == 0);
  const std::size_t count = tokens.end - tokens.begin;
  for (std::size_t t = 0; t < T.panels(count) * T.width(); t += lanes) {
    float* const panel = panels + t / T.width() * T.width() * Features + t % T.width();
    std::ptrdiff_t start[lanes]{};
    for (std::size_t r = 0; r < lanes; ++r) {
      start[r] =
          t + r < count ? windows.start(tokens.begin + t + r) : static_cast<std::ptrdiff_t>(windows.numbers.size);
    }
    // The inner loop visits runs: number i of the next run is often the next feature of the panel. With this order of
    // loops, the positional convolution of wav2vec 2.0 takes two thirds of the time of the other order (Zen 5).
    for (std::size_t i = 0; i < run; i += lanes) {
      const std::size_t columns = run % lanes == 0 || run - i >= lanes ? lanes : run - i;
      for (std::size_t n = 0; n < Features; n += run) {
        const std::ptrdiff_t first = windows.offset(n / run) + static_cast<std::ptrdiff_t>(i);
        Pack square[lanes];
        LADON_UNROLLED_FOR(r, lanes) square[r] = windows.numbers.template load<Pack>(start[r] + first, columns);
        Pack::transpose(square);
        LADON_UNROLLED_FOR(c, lanes) {
          if (c < columns) square[c].store(panel + Windows::feature(n + i + c) * T.width());
        }
      }
    }
  }
}

}  // namespace LADON_NAMESPACE::detail
