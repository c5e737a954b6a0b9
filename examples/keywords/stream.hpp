// Defines FeatureStream, which computes the features of a continuous sound. FeatureStream computes each frame once, and
// uses no heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "front_end.hpp"

namespace keywords {

// Computes features while samples arrive, and holds the features of the last second.
class FeatureStream {
 public:
  // `front_end` must outlive the stream.
  explicit FeatureStream(FrontEnd& front_end) noexcept : front_end_(front_end) {}

  // Takes any number of further samples. The samples are floats from -1 to 1, at 16 kHz. Computes features as soon as
  // the samples fill lane_count frames.
  void add(std::span<const float> samples) noexcept {
    while (!samples.empty()) {
      const std::size_t taken = std::min(samples.size(), samples_.size() - sample_count_);
      std::copy_n(samples.begin(), taken, samples_.begin() + static_cast<std::ptrdiff_t>(sample_count_));
      sample_count_ += taken;
      samples = samples.subspan(taken);
      if (sample_count_ == samples_.size()) compute_frames();
    }
  }

  // Returns how many frames the samples have completed since the start of the sound.
  [[nodiscard]] std::size_t frames() const noexcept { return computed_ + waiting_frames(); }

  // Returns the features [frame_count][coefficients] of the last frame_count frames, the oldest frame first. The
  // features are bit-identical to the features that FrontEnd::compute returns for the same samples. If fewer than
  // frame_count frames exist, the first rows are zeros. The result is valid until the next call of `add` or `features`.
  [[nodiscard]] std::span<const float, frame_count * coefficients> features() noexcept {
    compute_frames();
    return rows_;
  }

  // Forgets all samples.
  void clear() noexcept {
    rows_.fill(0);
    sample_count_ = computed_ = 0;
  }

 private:
  [[nodiscard]] std::size_t waiting_frames() const noexcept {
    return sample_count_ < frame_length ? 0 : (sample_count_ - frame_length) / frame_step + 1;
  }

  // Computes the features of all frames whose samples have arrived (at most lane_count frames), and drops the samples
  // before the next frame.
  void compute_frames() noexcept {
    const std::size_t frames = waiting_frames();
    if (frames == 0) return;
    const auto new_values = static_cast<std::ptrdiff_t>(frames * coefficients);
    std::copy(rows_.begin() + new_values, rows_.end(), rows_.begin());
    front_end_.compute(samples_.data(), frames, rows_.data() + rows_.size() - frames * coefficients);
    const auto end = samples_.begin() + static_cast<std::ptrdiff_t>(sample_count_);
    std::copy(samples_.begin() + static_cast<std::ptrdiff_t>(frames * frame_step), end, samples_.begin());
    sample_count_ -= frames * frame_step;
    computed_ += frames;
  }

  static_assert(lane_count <= frame_count);

  FrontEnd& front_end_;
  std::array<float, (lane_count - 1) * frame_step + frame_length> samples_{};  // of frames that are not computed yet
  std::size_t sample_count_ = 0;
  std::array<float, frame_count * coefficients> rows_{};
  std::size_t computed_ = 0;
};

}  // namespace keywords
