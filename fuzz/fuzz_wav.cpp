// Fuzzes the reader of WAV files. The reader must return finite samples for any file, or throw Error. The first byte of
// an input chooses how many samples each call of AudioFile::read requests. The other bytes are the file.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "audio_file.hpp"
#include "support/memory_file.hpp"
#include "support/require.hpp"

namespace {

using ladon_fuzz::require;

// Limits how many samples AudioFile may return. A sample in a file has at least one byte. AudioFile resamples to 16
// kHz, and rejects files with fewer than 63 samples a second. So a byte of a file gives at most 16000 / 63 < 256
// samples. The filter of the resampler adds samples at the end.
constexpr std::size_t most_samples_of_byte = 256, most_samples_of_filter = 1000;
// AudioFile rejects files with samples above 1e6. The filter may return larger samples, because it overshoots.
constexpr float largest_sample = 2e6f;

std::vector<float> read_in_pieces(const ladon_fuzz::MemoryFile& file, std::size_t piece, std::size_t most) {
  keywords::AudioFile audio(file.path());
  std::vector<float> samples, block(piece);
  for (std::size_t count = piece; count == piece;) {
    count = audio.read(block);
    require(count <= piece, "no more samples are read than fit");
    for (const float sample : std::span(block).first(count))
      require(std::abs(sample) <= largest_sample, "a sample is a number of a moderate size");
    samples.insert(samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
    require(samples.size() <= most, "a file has no more samples than its bytes can mean");
  }
  require(audio.read(block) == 0, "after the end there are no more samples");
  return samples;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ladon_fuzz::MemoryFile file({reinterpret_cast<const char*>(data + 1), size - 1});
  const std::size_t most = size * most_samples_of_byte + most_samples_of_filter;
  try {
    const std::vector<float> samples = read_in_pieces(file, 16000, most);
    require(read_in_pieces(file, 1 + data[0] * std::size_t{7}, most) == samples,
            "pieces of any size give equal samples");
  } catch (const examples::Error& error) {
    ladon_fuzz::require_shown(error.what(), "an error");
  }
  return 0;
}
