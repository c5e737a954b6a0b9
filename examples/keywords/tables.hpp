// Defines the constants of the front end. The compiler computes the constants in double precision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace keywords {

inline constexpr std::size_t sample_rate = 16000;    // samples a second
inline constexpr std::size_t window_length = 16000;  // samples that the model hears at once: 1 s
inline constexpr std::size_t frame_length = 480;     // samples: 30 ms
inline constexpr std::size_t frame_step = 160;       // samples: 10 ms
inline constexpr std::size_t frame_count = (window_length - frame_length) / frame_step + 1;
inline constexpr std::size_t fft_length = 512;
inline constexpr std::size_t mel_bands = 80;
inline constexpr std::size_t coefficients = 40;  // features of a frame

namespace tables {

// Returns cos(2 * pi * turns). Reduces the angle to at most pi, and then sums the Taylor series.
constexpr double cosine_of_turns(double turns) {
  turns -= static_cast<double>(static_cast<long long>(turns));
  if (turns > 0.5) turns -= 1;
  const double angle = 2 * std::numbers::pi * turns;
  double term = 1, sum = 1;
  for (int i = 1; i < 40; i += 2) {
    term *= -angle * angle / (i * (i + 1));
    sum += term;
  }
  return sum;
}

// Returns ln(x). Precondition: x >= 1. Divides x by 2 until x is below 2, and then computes ln(x) = 2 artanh((x - 1) /
// (x + 1)).
constexpr double natural_logarithm(double x) {
  double halvings = 0;
  for (; x >= 2; x /= 2) ++halvings;
  const double ratio = (x - 1) / (x + 1);
  double power = ratio, sum = 0;
  for (int i = 1; i < 60; i += 2) {
    sum += power / i;
    power *= ratio * ratio;
  }
  return 2 * sum + halvings * std::numbers::ln2;
}

constexpr double square_root(double x) {
  double root = x < 1 ? 1 : x;
  for (int i = 0; i < 60; ++i) root = (root + x / root) / 2;
  return root;
}

constexpr double mel(double hertz) { return 1127 * natural_logarithm(1 + hertz / 700); }

// The periodic Hann window.
inline constexpr auto hann = [] {
  std::array<float, frame_length> window{};
  for (std::size_t i = 0; i < frame_length; ++i)
    window[i] = static_cast<float>(0.5 - 0.5 * cosine_of_turns(static_cast<double>(i) / frame_length));
  return window;
}();

// A mel band adds the magnitudes of the bins of the DFT with weights that form a triangle. The weight rises from 0 at
// the centre of the previous band to 1 at the centre of this band, and falls to 0 at the centre of the next band.
// Interval i lies between the centres of the bands i - 1 and i. A bin of interval i adds rising[bin] * magnitude to
// band i, and (1 - rising[bin]) * magnitude to band i - 1.
struct MelIntervals {
  std::array<std::uint8_t, mel_bands + 2> begin{};  // the first bin of each interval, and the end of the last interval
  std::array<float, fft_length / 2> rising{};
};
inline constexpr double lowest_hertz = 20, highest_hertz = 7600;
constexpr double hertz_of_bin(std::size_t bin) {
  return static_cast<double>(bin) * static_cast<double>(sample_rate) / static_cast<double>(fft_length);
}
inline constexpr std::size_t first_bin = 1;  // 31.25 Hz. Bin 0 is 0 Hz, below the lowest band
inline constexpr std::size_t end_bin = 244;  // bin 243 is 7593.75 Hz
static_assert(hertz_of_bin(first_bin) > lowest_hertz && hertz_of_bin(end_bin - 1) < highest_hertz &&
              hertz_of_bin(end_bin) >= highest_hertz);
inline constexpr auto mel_intervals = [] {
  MelIntervals intervals;
  const double lowest = mel(lowest_hertz), width = (mel(highest_hertz) - lowest) / (mel_bands + 1);
  std::size_t interval = 0;
  for (std::size_t bin = first_bin; bin < end_bin; ++bin) {
    const double position = (mel(hertz_of_bin(bin)) - lowest) / width;
    while (interval <= static_cast<std::size_t>(position)) intervals.begin[interval++] = static_cast<std::uint8_t>(bin);
    intervals.rising[bin] = static_cast<float>(position - static_cast<double>(interval - 1));
  }
  while (interval < intervals.begin.size()) intervals.begin[interval++] = end_bin;
  return intervals;
}();

// The DCT-II of the logarithms of the mel bands. In row k, the elements n and mel_bands - 1 - n are equal if k is even,
// and have opposite signs and equal magnitudes if k is odd. So callers first add the logarithms n and mel_bands - 1 - n
// for even rows, and subtract them for odd rows. The product with a row then needs only the first half of the row. The
// array holds the first halves, first of the even rows, then of the odd rows: [2][coefficients / 2][mel_bands / 2].
inline constexpr auto dct = [] {
  std::array<std::array<float, coefficients / 2 * mel_bands / 2>, 2> halves{};
  const double scale = square_root(2.0 / mel_bands);
  for (std::size_t k = 0; k < coefficients; ++k) {
    for (std::size_t n = 0; n < mel_bands / 2; ++n)
      halves[k % 2][k / 2 * mel_bands / 2 + n] =
          static_cast<float>(scale * cosine_of_turns(static_cast<double>(k * (2 * n + 1)) / (4.0 * mel_bands)));
  }
  return halves;
}();

}  // namespace tables
}  // namespace keywords
