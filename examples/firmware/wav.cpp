// Reads WAV files. The format is RIFF: a file is a list of chunks. Each chunk has a name of four characters, its size
// in bytes, and a content that is padded to an even size. Numbers in the file are little-endian, and the processors of
// the boards are little-endian, too. So numbers are copied unchanged.
#include "wav.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace {

struct Format {  // the first 16 bytes of the chunk "fmt "
  std::uint16_t encoding, channels;
  std::uint32_t rate, bytes_per_second;
  std::uint16_t bytes_per_frame, bits;
};
constexpr std::uint16_t pcm = 1;

bool is(const char (&id)[4], const char* name) noexcept { return std::memcmp(id, name, sizeof id) == 0; }

}  // namespace

Wav::Wav(const char* name) noexcept : file_(name) { error_ = file_.is_open() ? find_samples() : "cannot be opened"; }

template <class T>
bool Wav::take(T& value) noexcept {
  return file_.read({reinterpret_cast<char*>(&value), sizeof value}) == sizeof value;
}

bool Wav::skip(std::size_t bytes) noexcept {
  for (std::array<char, 64> skipped; bytes > 0;) {
    const std::size_t count = std::min(bytes, skipped.size());
    if (file_.read({skipped.data(), count}) != count) return false;
    bytes -= count;
  }
  return true;
}

const char* Wav::find_samples() noexcept {
  Chunk chunk;
  char form[4];
  if (!take(chunk) || !is(chunk.id, "RIFF") || !take(form) || !is(form, "WAVE")) return "is no WAV file";
  bool has_format = false;
  while (take(chunk)) {
    if (is(chunk.id, "data")) {
      if (!has_format) return "has no format before its samples";
      left_ = chunk.bytes / sizeof(std::int16_t);
      return left_ > 0 ? nullptr : "has no samples";
    }
    if (is(chunk.id, "fmt ")) {
      if (const char* const error = read_format(chunk.bytes)) return error;
      has_format = true;
    } else if (!skip(chunk.bytes + chunk.bytes % 2)) {
      break;
    }
  }
  return "has no samples";
}

const char* Wav::read_format(std::uint32_t bytes) noexcept {
  Format format;
  if (bytes < sizeof format || !take(format) || !skip(bytes + bytes % 2 - sizeof format)) return "has no format";
  if (format.encoding != pcm || format.bits != 16) return "does not have 16-bit samples; allowed: 16-bit PCM";
  if (format.channels != 1) return "has several channels; allowed: mono";
  if (format.rate != 16000) return "has another sample rate; allowed: 16 kHz";
  return nullptr;
}

std::size_t Wav::read(std::span<float> samples) noexcept {
  std::array<std::int16_t, 160> integers;
  std::size_t count = 0;
  while (count < samples.size() && left_ > 0) {
    const std::size_t wanted = std::min({integers.size(), samples.size() - count, left_});
    const std::size_t got =
        file_.read({reinterpret_cast<char*>(integers.data()), wanted * sizeof(std::int16_t)}) / sizeof(std::int16_t);
    for (std::size_t i = 0; i < got; ++i) samples[count + i] = static_cast<float>(integers[i]) * 0x1p-15f;
    count += got;
    left_ = got == wanted ? left_ - got : 0;  // if the file ends early, no samples are left
  }
  return count;
}
