// Reads recordings: WAV files of 16-bit PCM or float samples, with any number of channels, at any sample rate.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "error.hpp"

namespace keywords {

// Reads a recording from its start to its end, as mono at 16 kHz. Channels are averaged. The memory does not grow with
// the length of the file. Samples are floats, and full scale is 1.
//
// All functions throw examples::Error, with the name of the file.
class AudioFile {
 public:
  // Throws if the file is not a regular file, is not a WAV file of 16-bit PCM or float samples, has no samples, or has
  // a rate that cannot be resampled.
  explicit AudioFile(const std::filesystem::path& file);
  ~AudioFile();
  AudioFile(const AudioFile&) = delete;
  AudioFile& operator=(const AudioFile&) = delete;

  // Writes the next samples, and returns their number. The number is below to.size() only at the end of the recording.
  // If the file was cut off, the recording ends where the file ends. Throws if a sample is not finite or is beyond
  // +-1e6.
  std::size_t read(std::span<float> to);

 private:
  struct Source;
  struct Resampler;

  std::size_t resample(std::span<float> to);
  std::span<const float> next_block();

  std::filesystem::path file_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Resampler> resampler_;  // null if the file has 16 kHz
  std::span<const float> block_;          // mono samples of the file that were not yet used
};

}  // namespace keywords
