// Spots the words of a recording.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "spotter.hpp"
#include "words.hpp"

namespace keywords {

// One second of a recording.
struct Window {
  std::size_t start = 0;  // samples
  std::array<float, window_length> samples{};
  Logits logits{};
};

struct Findings {
  Window window;                    // of a long recording, the window with the largest probability of a word
  bool is_long = false;             // longer than a window
  std::vector<DetectedWord> words;  // the words of a long recording
};

// Reads a recording, and spots its words. A recording of less than a second is padded with zeros. In a longer
// recording, a window begins every `stride` samples. `stride` is a multiple of frame_step, from frame_step to
// sample_rate. Throws examples::Error if the file cannot be read, or if a logit is not finite.
Findings find_words(const std::filesystem::path& file, Spotter& spotter, std::size_t stride);

}  // namespace keywords
