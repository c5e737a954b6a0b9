#include "front_end.hpp"

#include <algorithm>

#include "lane_product.hpp"

namespace keywords {

void FrontEnd::compute(const float* samples, std::size_t frames, float* features, float* log_bands) noexcept {
  for (std::size_t i = 0; i < frames; i += lane_count) {
    const std::size_t group = std::min(lane_count, frames - i);
    compute_group(samples + i * frame_step, group, features + i * coefficients);
    if (log_bands != nullptr) write_log_bands(group, log_bands + i * mel_bands);
  }
}

void FrontEnd::compute_group(const float* samples, std::size_t frames, float* features) noexcept {
  load_signal(samples, frames);
  fft_.transform(signal_.data(), spectrum_.data());
  compute_log_bands();
  write_coefficients(frames, features);
}

// Multiplies each frame by the Hann window, and writes the products into one lane of `signal_`. Lanes without a frame
// also get numbers, but the results of these lanes are not used.
//
// A frame is three steps long, so each sample belongs to up to three frames. With several lanes, the function first
// transposes the samples: steps[i][s] is sample i of step s. The elements of steps[i] then belong to consecutive
// frames, so one vector load gives a sample for each lane. Without the transposition, the function would store each
// sample three times, one float at a time, and the front end would take 1.17 times as long (AVX-512, Zen 4).
void FrontEnd::load_signal(const float* samples, std::size_t frames) noexcept {
  if constexpr (lane_count == 1) {
    for (std::size_t i = 0; i < frame_length; ++i) signal_[i] = tables::hann[i] * samples[i];
  } else {
    constexpr std::size_t steps_of_frame = frame_length / frame_step, most_steps = lane_count + steps_of_frame - 1;
    static_assert(frame_length % frame_step == 0);
    std::array<std::array<float, most_steps>, frame_step> steps;
    const std::size_t last = frames + steps_of_frame - 2;  // lanes without a frame repeat the last step
    for (std::size_t step = 0; step < most_steps; ++step) {
      const float* const from = samples + std::min(step, last) * frame_step;
      for (std::size_t i = 0; i < frame_step; ++i) steps[i][step] = from[i];
    }
    for (std::size_t i = 0; i < frame_length; ++i) {
      const Lanes frame = load_unaligned(steps[i % frame_step].data() + i / frame_step);
      store(Lanes(tables::hann[i]) * frame, signal_.data() + i * lane_count);
    }
  }
}

void FrontEnd::compute_log_bands() noexcept {
  constexpr float least = 1e-12f;
  const auto& [begin, rising] = tables::mel_intervals;
  Lanes rising_before(0.0f);  // the part of band i - 1 that interval i - 1 has computed
  for (std::size_t i = 0; i <= mel_bands; ++i) {
    Lanes sum(0.0f), rising_sum(0.0f);
    for (std::size_t bin = begin[i]; bin < begin[i + 1]; ++bin) {
      const auto& [real, imaginary] = spectrum_[bin];  // references, because g++ 12 would copy through the stack
      const Lanes magnitude = square_root(add_product(real * real, imaginary, imaginary));
      sum += magnitude;
      rising_sum = add_product(rising_sum, Lanes(rising[bin]), magnitude);
    }
    if (i > 0) log_bands_[i - 1] = logarithm(larger(rising_before + (sum - rising_sum), Lanes(least)));
    rising_before = rising_sum;
  }
}

void FrontEnd::write_coefficients(std::size_t frames, float* features) const noexcept {
  constexpr std::size_t half = mel_bands / 2;
  std::array<std::array<Lanes, half>, 2> bands;  // sums for the even coefficients, differences for the odd ones
  for (std::size_t n = 0; n < half; ++n) {
    const Lanes low = log_bands_[n], high = log_bands_[mel_bands - 1 - n];
    bands[0][n] = low + high;
    bands[1][n] = low - high;
  }
  for (std::size_t odd = 0; odd < 2; ++odd) {
    lane_product<coefficients / 2, half>(
        tables::dct[odd].data(), nullptr, bands[odd].data(), frames,
        [&](std::size_t frame, std::size_t i, float y) { features[frame * coefficients + 2 * i + odd] = y; });
  }
}

void FrontEnd::write_log_bands(std::size_t frames, float* log_bands) const noexcept {
  for (std::size_t n = 0; n < mel_bands; ++n) {
    alignas(Lanes) std::array<float, lane_count> lanes;
    store(log_bands_[n], lanes.data());
    for (std::size_t frame = 0; frame < frames; ++frame) log_bands[frame * mel_bands + n] = lanes[frame];
  }
}

}  // namespace keywords
