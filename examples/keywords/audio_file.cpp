#include "audio_file.hpp"

#include <samplerate.h>
#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tables.hpp"

namespace keywords {
namespace {

using examples::Error;

constexpr std::size_t block_size = 1 << 16;  // the samples of all channels together

// The largest sample that a file may contain. Full scale is 1, but some programs write 16-bit integers as floats
// without scaling, so samples up to 2^15 must be accepted. Samples beyond 1e6 are rejected, so that sums of squares
// stay finite.
constexpr float largest_sample = 1e6f;

std::string name_of(int format) {
  SF_FORMAT_INFO info{};
  info.format = format;
  sf_command(nullptr, SFC_GET_FORMAT_INFO, &info, sizeof(info));
  return info.name == nullptr ? "an unknown format" : info.name;
}

// Rejects folders, pipes and devices. The file is opened twice, and the second reader of a pipe would wait for ever. A
// file that is absent is rejected later, with the reason of the system.
void check_kind(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) throw Error("is a folder, not a WAV file");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Error("is not a regular file: write the sound into a file first");
}

// Rejects every file that is not a WAV file. libsndfile reads many more formats, and the recording may come from an
// untrusted source. After this check, a file reaches only libsndfile's reader of WAV files.
void check_heading(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(std::string("cannot be opened: ") + std::strerror(errno));
  std::array<char, 12> heading{};
  file.read(heading.data(), heading.size());
  const std::string_view text(heading.data(), heading.size());
  const bool is_wav = (text.starts_with("RIFF") || text.starts_with("RIFX")) && text.ends_with("WAVE");
  if (!is_wav) throw Error("is not a WAV file");
}

void check_format(const SF_INFO& info) {
  const int samples = info.format & SF_FORMAT_SUBMASK;
  if (samples != SF_FORMAT_PCM_16 && samples != SF_FORMAT_FLOAT && samples != SF_FORMAT_DOUBLE)
    throw Error("expected 16-bit PCM or float samples, found " + name_of(samples));
  if (src_is_valid_ratio(static_cast<double>(sample_rate) / info.samplerate) == 0)
    throw Error("expected a rate from 63 to 4096000 samples a second, found " + std::to_string(info.samplerate));
  if (info.frames == 0) throw Error("there are no samples");
}

}  // namespace

// Holds the open file, and the block of samples that was last read from the file.
struct AudioFile::Source {
  explicit Source(const std::filesystem::path& path) : file(sf_open(path.string().c_str(), SFM_READ, &info)) {
    if (file == nullptr) throw Error(std::string("is not a WAV file that can be read: ") + sf_strerror(nullptr));
    try {
      check_format(info);
      channels = static_cast<std::size_t>(info.channels);
      block.resize(std::max(block_size / channels, std::size_t{1}) * channels);
    } catch (...) {
      sf_close(file);
      throw;
    }
  }
  ~Source() { sf_close(file); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // Reads the next block of samples, and averages its channels. The result is empty at the end of the file.
  std::span<const float> next() {
    const auto frames = static_cast<sf_count_t>(block.size() / channels);
    const auto count = static_cast<std::size_t>(std::max(sf_readf_float(file, block.data(), frames), sf_count_t{0}));
    for (std::size_t i = 0; i < count; ++i) {
      float sum = 0;
      for (std::size_t channel = 0; channel < channels; ++channel) sum += checked(block[i * channels + channel]);
      block[i] = sum / static_cast<float>(channels);
    }
    return std::span(block).first(count);
  }

  static float checked(float sample) {
    if (!(std::abs(sample) <= largest_sample))  // also rejects NaN
      throw Error("expected samples from -1 to 1, found " + std::to_string(sample));
    return sample;
  }

  SF_INFO info{};
  SNDFILE* file;
  std::size_t channels = 1;
  std::vector<float> block;
};

struct AudioFile::Resampler {
  explicit Resampler(int rate) : ratio(static_cast<double>(sample_rate) / rate) {
    int error = 0;
    state = src_new(SRC_SINC_MEDIUM_QUALITY, 1, &error);
    if (state == nullptr) throw Error(src_strerror(error));
  }
  ~Resampler() { src_delete(state); }
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  double ratio;
  SRC_STATE* state;
};

AudioFile::AudioFile(const std::filesystem::path& file) : file_(file) {
  try {
    check_kind(file);
    check_heading(file);
    source_ = std::make_unique<Source>(file);
    if (source_->info.samplerate != static_cast<int>(sample_rate))
      resampler_ = std::make_unique<Resampler>(source_->info.samplerate);
  } catch (const Error& error) {
    throw Error(file.string() + ": " + error.what());
  }
}

AudioFile::~AudioFile() = default;

std::size_t AudioFile::read(std::span<float> to) {
  if (resampler_ != nullptr) return resample(to);
  std::size_t count = 0;
  while (count < to.size() && !next_block().empty()) {
    const std::size_t taken = std::min(block_.size(), to.size() - count);
    std::copy_n(block_.begin(), taken, to.begin() + static_cast<std::ptrdiff_t>(count));
    block_ = block_.subspan(taken);
    count += taken;
  }
  return count;
}

std::size_t AudioFile::resample(std::span<float> to) {
  std::size_t count = 0;
  while (count < to.size()) {
    const std::span<const float> block = next_block();
    SRC_DATA data{};
    data.data_in = block.data();
    data.input_frames = static_cast<long>(block.size());
    data.data_out = to.data() + count;
    data.output_frames = static_cast<long>(to.size() - count);
    data.end_of_input = block.empty() ? 1 : 0;
    data.src_ratio = resampler_->ratio;
    if (const int error = src_process(resampler_->state, &data); error != 0)
      throw Error(file_.string() + ": " + src_strerror(error));
    block_ = block_.subspan(static_cast<std::size_t>(data.input_frames_used));
    count += static_cast<std::size_t>(data.output_frames_gen);
    if (block.empty() && data.output_frames_gen == 0) break;  // the end of the recording
  }
  return count;
}

// Returns the samples of the current block that `read` has not used. If `read` has used all of them, reads the next
// block first. Returns nothing at the end of the file.
std::span<const float> AudioFile::next_block() {
  if (!block_.empty()) return block_;
  try {
    return block_ = source_->next();
  } catch (const Error& error) {
    throw Error(file_.string() + ": " + error.what());
  }
}

}  // namespace keywords
