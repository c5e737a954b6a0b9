// Provides fixtures for several tests: the folder of the model, WAV files, and synthetic sounds.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "audio_file.hpp"
#include "model_file.hpp"
#include "tables.hpp"
#include "testing/fixtures.hpp"

namespace keywords {

using examples::TemporaryFolder;

// Returns the folder with kwt1.safetensors, expected.json and the recordings.
inline std::filesystem::path model_folder() {
  const char* folder = std::getenv("LADON_KEYWORDS_DIR");
  return folder != nullptr ? std::filesystem::path(folder)
                           : std::filesystem::path(LADON_SHARED_DIR) / "models" / "kwt1";
}

inline std::filesystem::path model_file() { return model_folder() / model_file_name; }

// The format of the samples in a WAV file.
enum class Coding : std::uint16_t { pcm = 1, floating = 3, mu_law = 7 };

struct WavFormat {
  Coding coding = Coding::pcm;
  std::uint16_t channels = 1;
  std::uint32_t rate = sample_rate;
  std::uint16_t bits = 16;
};

// Appends an integer of `bytes` bytes, little-endian.
inline void append(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
}

// Returns the bytes of a WAV file whose data chunk contains `data`.
inline std::string wav_of_bytes(const WavFormat& format, const std::string& data) {
  const std::uint64_t frame = std::uint64_t{format.channels} * format.bits / 8;
  std::string wav = "RIFF";
  append(wav, 36 + data.size(), 4);
  wav += "WAVEfmt ";
  append(wav, 16, 4);
  append(wav, static_cast<std::uint16_t>(format.coding), 2);
  append(wav, format.channels, 2);
  append(wav, format.rate, 4);
  append(wav, format.rate * frame, 4);
  append(wav, frame, 2);
  append(wav, format.bits, 2);
  wav += "data";
  append(wav, data.size(), 4);
  return wav + data;
}

// Returns the bytes of a WAV file with these samples. `samples` are interleaved, -1 to 1.
inline std::string wav_of(const WavFormat& format, std::span<const float> samples) {
  std::string data;
  for (const float sample : samples) {
    if (format.coding == Coding::floating && format.bits == 32) {
      append(data, std::bit_cast<std::uint32_t>(sample), 4);
    } else if (format.coding == Coding::floating) {
      append(data, std::bit_cast<std::uint64_t>(double{sample}), 8);
    } else {
      const double scaled = std::round(std::ldexp(static_cast<double>(sample), format.bits - 1));
      append(data, static_cast<std::uint64_t>(static_cast<std::int64_t>(scaled) + (format.bits == 8 ? 128 : 0)),
             format.bits / 8);
    }
  }
  return wav_of_bytes(format, data);
}

inline std::vector<float> read_all(const std::filesystem::path& path) {
  AudioFile file(path);
  std::vector<float> samples, block(1000);
  for (std::size_t count = block.size(); count == block.size();) {
    count = file.read(block);
    samples.insert(samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return samples;
}

inline std::vector<float> sine(double hertz, std::size_t count, double rate = sample_rate) {
  std::vector<float> samples(count);
  for (std::size_t i = 0; i < count; ++i)
    samples[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  return samples;
}

inline std::vector<float> white_noise(std::size_t count, float amplitude = 0.5f) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-amplitude, amplitude);
  std::vector<float> samples(count);
  for (float& sample : samples) sample = uniform(random);
  return samples;
}

}  // namespace keywords
