// Finds the words of a recording from the probabilities of overlapping windows. Uses no heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "model.hpp"

namespace keywords {

using Probabilities = std::array<float, label_count>;

// The first index in `labels` that stands for a word. The labels 0 and 1 are _silence_ and _unknown_.
inline constexpr std::size_t first_word = 2;

struct DetectedWord {
  std::size_t start;  // samples from the start of the first window to the start of the window that has the word
  std::size_t label;  // index in `labels`
  float probability;  // the average of rule 1 below
};

// Finds words by four rules, which are similar to those of TensorFlow's streaming examples (RecognizeCommands):
//   1. Averages the probabilities of each label over the windows that begin in the last `averaged` samples. Windows
//      before the first window count as zeros.
//   2. Reports the word with the largest average, if the average is at least `threshold`. The word is in the newest
//      window.
//   3. Reports nothing for the next `suppressed` samples, because the windows of one word overlap.
//   4. Reports the same word again only in two cases: its average was below `threshold` in the meantime, or
//      `window_length` samples have passed, so that no window contains the reported word any more.
//
// The model gives a word at most about 0.91, because it was trained with smoothed labels. The average therefore reaches
// `threshold` only if most of the averaged windows have the word.
class WordDetector {
 public:
  static constexpr std::size_t averaged = sample_rate / 2;
  static constexpr float threshold = 0.6f;
  static constexpr std::size_t suppressed = sample_rate / 2;

  // `stride` is the number of samples from one window to the next: a multiple of frame_step, from frame_step to
  // sample_rate.
  explicit WordDetector(std::size_t stride) noexcept
      : stride_(stride), count_(std::max(averaged / stride, std::size_t{1})) {}

  // Takes the probabilities of the next window. Returns the word that rules 2 to 4 report for this window, if there is
  // one.
  std::optional<DetectedWord> add(const Probabilities& probabilities) noexcept {
    recent_[windows_++ % count_] = probabilities;
    const Probabilities averages = average();
    const auto word = std::max_element(averages.begin() + first_word, averages.end());
    const auto label = static_cast<std::size_t>(word - averages.begin());
    if (reported_ && averages[*reported_] < threshold) reported_.reset();
    if (*word < threshold || since_report() < (label == reported_ ? window_length : suppressed)) return std::nullopt;
    reported_ = label;
    windows_at_report_ = windows_;
    return DetectedWord{(windows_ - 1) * stride_, label, *word};
  }

 private:
  [[nodiscard]] Probabilities average() const noexcept {
    Probabilities averages{};
    for (std::size_t label = 0; label < label_count; ++label) {
      for (std::size_t i = 0; i < count_; ++i) averages[label] += recent_[i][label];
      averages[label] /= static_cast<float>(count_);
    }
    return averages;
  }

  // Returns how many samples lie between the window of the last report and the newest window. Before the first report,
  // returns window_length, so that neither rule 3 nor rule 4 prevents the first report.
  [[nodiscard]] std::size_t since_report() const noexcept {
    return windows_at_report_ == 0 ? window_length : (windows_ - windows_at_report_) * stride_;
  }

  std::size_t stride_;
  std::size_t count_;                                          // the number of averaged windows
  std::array<Probabilities, averaged / frame_step> recent_{};  // a ring of `count_` windows
  std::size_t windows_ = 0;                                    // windows since the start
  std::size_t windows_at_report_ = 0;                          // 0 before the first report
  std::optional<std::size_t> reported_;  // the last word, until its average falls below `threshold`
};

}  // namespace keywords
