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

// Multiplies the frames by the Hann window, and writes one frame into each lane of `signal_`. A lane without a frame
// repeats the last frame, and the results of this lane are not used.
void FrontEnd::load_signal(const float* samples, std::size_t frames) noexcept {
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    const float* const frame = samples + std::min(lane, frames - 1) * frame_step;
    for (std::size_t i = 0; i < frame_length; ++i) signal_[i * lane_count + lane] = tables::hann[i] * frame[i];
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
  lane_product<coefficients, mel_bands>(
      tables::dct.data(), nullptr, log_bands_.data(), frames,
      [&](std::size_t frame, std::size_t i, float y) { features[frame * coefficients + i] = y; });
}

void FrontEnd::write_log_bands(std::size_t frames, float* log_bands) const noexcept {
  for (std::size_t n = 0; n < mel_bands; ++n) {
    alignas(Lanes) std::array<float, lane_count> lanes;
    store(log_bands_[n], lanes.data());
    for (std::size_t frame = 0; frame < frames; ++frame) log_bands[frame * mel_bands + n] = lanes[frame];
  }
}

}  // namespace keywords
