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
  compute_magnitudes(samples, frames);
  compute_log_bands();
  write_coefficients(frames, features);
}

// Multiplies the frames by the Hann window, and computes the magnitudes of their DFT. Each lane has one frame. The
// results of lanes without a frame are not used.
//
// A frame is three steps long, so each sample belongs to up to three frames. With several lanes, the function first
// transposes the samples: steps[i][s] is sample i of step s. A vector that is loaded from steps[i] then has one sample
// of each of several consecutive frames.
void FrontEnd::compute_magnitudes(const float* samples, std::size_t frames) noexcept {
  const auto transform = [&](auto sample) {
    const auto windowed = [&](std::size_t i) {
      return i < frame_length ? Lanes(tables::half_hann[i]) * sample(i) : Lanes(0.0f);
    };
    fft_.transform(windowed, magnitudes_);
  };
  if constexpr (lane_count == 1) {
    transform([=](std::size_t i) { return samples[i]; });
  } else {
    constexpr std::size_t steps_of_frame = frame_length / frame_step;
    static_assert(frame_length % frame_step == 0 && frame_step % 4 == 0);
    constexpr std::size_t most_steps = (lane_count + steps_of_frame - 1 + 3) / 4 * 4;
    std::array<std::array<float, most_steps>, frame_step> steps;
    const std::size_t last = frames + steps_of_frame - 2;  // lanes without a frame repeat the last step
    const auto row = [&](std::size_t step) { return samples + std::min(step, last) * frame_step; };
    for (std::size_t step = 0; step < most_steps; step += 4) {
      const float *const a = row(step), *const b = row(step + 1), *const c = row(step + 2), *const d = row(step + 3);
      for (std::size_t i = 0; i < frame_step; i += 4) {
        transpose({a + i, b + i, c + i, d + i}, steps[i].data() + step, most_steps);
      }
    }
    transform([&](std::size_t i) { return load_unaligned(steps[i % frame_step].data() + i / frame_step); });
  }
}

void FrontEnd::compute_log_bands() noexcept {
  constexpr float least = 1e-12f;
  const auto& [begin, rising] = tables::mel_intervals;
  Lanes rising_before(0.0f);  // the part of band i - 1 that interval i - 1 has computed
  for (std::size_t i = 0; i <= mel_bands; ++i) {
    Lanes sum(0.0f), rising_sum(0.0f);
    for (std::size_t bin = begin[i]; bin < begin[i + 1]; ++bin) {
      sum += magnitudes_[bin];
      rising_sum = add_product(rising_sum, Lanes(rising[bin]), magnitudes_[bin]);
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
