#include "recording.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "audio_file.hpp"
#include "stream.hpp"

namespace keywords {
namespace {

// Moves a window of one second through a longer recording. Zeros are added before the start and after the end of the
// recording, so that a word near the start or the end lies in as many windows as a word in the middle.
class LongRecording {
 public:
  // `first_second` has the samples that the caller has already read from `file`.
  LongRecording(AudioFile& file, std::span<const float> first_second, std::size_t stride)
      : file_(file), unread_(first_second), stride_(stride), padding_(WordDetector::averaged / stride * stride) {
    stream_.add(std::vector<float>(padding_));
    std::ranges::fill(samples_, 0.0f);
    take(window_length - padding_);
  }

  // Returns whether the window begins within the recording, and ends fewer than `stride_` samples behind the end of the
  // recording. The samples behind the end are 0.
  [[nodiscard]] bool is_inside() const { return position_ >= padding_ && start() + window_length < length_ + stride_; }
  [[nodiscard]] bool is_behind() const { return start() + window_length >= length_ + padding_ + stride_; }
  // Returns the number of samples from the start of the recording to the start of the window, or 0 if the window begins
  // before the recording.
  [[nodiscard]] std::size_t start() const { return start_of(position_); }
  [[nodiscard]] std::size_t start_of(std::size_t position) const { return std::max(position, padding_) - padding_; }
  [[nodiscard]] Samples samples() const { return samples_; }
  [[nodiscard]] Features features() { return stream_.features(); }

  // Advances to the next window.
  void advance() {
    take(stride_);
    position_ += stride_;
  }

 private:
  // Shifts the window by `count` samples: drops the first samples, and appends the next samples of the recording. After
  // the end of the recording, appends zeros.
  void take(std::size_t count) {
    std::shift_left(samples_.begin(), samples_.end(), static_cast<std::ptrdiff_t>(count));
    const auto to = std::span(samples_).last(count);
    const std::size_t first = std::min(unread_.size(), count);
    std::copy_n(unread_.begin(), first, to.begin());
    unread_ = unread_.subspan(first);
    const std::size_t read = first + (first < count ? file_.read(to.subspan(first)) : 0);
    std::ranges::fill(to.subspan(read), 0.0f);
    read_ += read;
    if (read < count && length_ > read_) length_ = read_;
    stream_.add(to);
  }

  AudioFile& file_;
  std::span<const float> unread_;
  std::size_t stride_;
  std::size_t padding_;  // zeros before the recording
  std::size_t position_ = 0;
  std::size_t read_ = 0;
  std::size_t length_ = std::numeric_limits<std::size_t>::max() / 2;  // until the end is known
  FrontEnd front_end_;
  FeatureStream stream_{front_end_};
  std::array<float, window_length> samples_{};
};

// Throws if a logit is not finite. Samples are finite, so the cause is a weight.
void check_logits(const Logits& logits) {
  if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }))
    throw examples::Error("the result of the model is not finite: is the file of its weights damaged?");
}

float word_probability(const Probabilities& probabilities) {
  return *std::max_element(probabilities.begin() + first_word, probabilities.end());
}

void find_in_windows(LongRecording& recording, Spotter& spotter, std::size_t stride, Findings& findings) {
  WordDetector detector(stride);
  float most = -1;
  for (; !recording.is_behind(); recording.advance()) {
    const Logits logits = spotter.logits_of_features(recording.features());
    check_logits(logits);
    const Probabilities probabilities = softmax(logits);
    if (auto word = detector.add(probabilities)) {
      word->start = recording.start_of(word->start);
      findings.words.push_back(*word);
    }
    if (recording.is_inside() && word_probability(probabilities) > most) {
      most = word_probability(probabilities);
      findings.window.start = recording.start();
      findings.window.logits = logits;
      std::ranges::copy(recording.samples(), findings.window.samples.begin());
    }
  }
}

}  // namespace

Findings find_words(const std::filesystem::path& file, Spotter& spotter, std::size_t stride) {
  AudioFile audio(file);
  Findings findings;
  std::vector<float> first(window_length + 1);
  const std::size_t count = audio.read(first);
  if (count == 0) throw examples::Error(file.string() + ": there are no samples");
  findings.is_long = count > window_length;
  if (findings.is_long) {
    const auto recording = std::make_unique<LongRecording>(audio, first, stride);
    find_in_windows(*recording, spotter, stride, findings);
  } else {
    std::ranges::copy(std::span(first).first(window_length), findings.window.samples.begin());
    findings.window.logits = spotter.logits(findings.window.samples);
    check_logits(findings.window.logits);
  }
  return findings;
}

}  // namespace keywords
