// Tests that AudioFile reads WAV files of every supported kind and rejects all other files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "error.hpp"
#include "fixtures.hpp"

namespace keywords {
namespace {

std::string error_of(const std::filesystem::path& path) {
  return examples::error_of<examples::Error>([&] { read_all(path); });
}

// Checks that a WAV file with this content is rejected, and that the error message contains the text `words` and the
// name of the file.
void check_refused(const std::string& content, const std::string& words) {
  const TemporaryFolder folder;
  const std::string error = error_of(folder.file("sound.wav", content));
  CAPTURE(error);
  CHECK(error.find("sound.wav: ") != std::string::npos);
  CHECK(error.find(words) != std::string::npos);
}

std::vector<float> read_content(const std::string& content) {
  const TemporaryFolder folder;
  return read_all(folder.file("sound.wav", content));
}

}  // namespace

TEST_SUITE_BEGIN("audio_file");

TEST_CASE("16-bit samples are divided by 32768") {
  const std::vector<float> samples{0, 1.0f / 32768, -1.0f / 32768, 0.5f, -1, 32767.0f / 32768};
  CHECK(read_content(wav_of({}, samples)) == samples);
}

TEST_CASE("float samples are taken as they are") {
  const std::vector<float> samples{0, 0.1f, -3, 1e-20f, 999999};
  CHECK(read_content(wav_of({.coding = Coding::floating, .bits = 32}, samples)) == samples);
  CHECK(read_content(wav_of({.coding = Coding::floating, .bits = 64}, samples)) == samples);
}

TEST_CASE("channels are averaged") {
  const std::vector<float> stereo{0.5f, 0, -1, 0.5f, 0.25f, 0.25f};
  CHECK(read_content(wav_of({.channels = 2}, stereo)) == std::vector<float>{0.25f, -0.25f, 0.25f});
  std::vector<float> many(200 * 3);
  for (std::size_t i = 0; i < 200; ++i) many[i] = 0.5f;
  CHECK(read_content(wav_of({.channels = 200}, many)) == std::vector<float>{0.5f, 0, 0});
}

TEST_CASE("a tone of any rate is the same tone at 16 kHz") {
  const std::vector<float> expected = sine(440, window_length);
  for (const std::uint32_t rate : {8000U, 11025U, 16000U, 22050U, 44100U, 48000U, 96000U, 192000U}) {
    CAPTURE(rate);
    const std::vector<float> samples =
        read_content(wav_of({.coding = Coding::floating, .rate = rate, .bits = 32}, sine(440, rate, rate)));
    CHECK(std::abs(static_cast<double>(samples.size()) - static_cast<double>(window_length)) <= 1);
    // The resampling filter uses samples on both sides of each sample. At both ends of the recording, samples are
    // missing, so the first and the last 500 samples are not compared.
    for (std::size_t i = 500; i + 500 < window_length; ++i)
      REQUIRE(std::abs(samples[i] - expected[i]) < (rate == sample_rate ? 0.0f : 2e-4f) + 1e-7f);
  }
}

TEST_CASE("frequencies above half the rate are filtered, not folded") {
  const std::vector<float> samples =
      read_content(wav_of({.coding = Coding::floating, .rate = 48000, .bits = 32}, sine(12000, 48000, 48000)));
  for (std::size_t i = 500; i + 500 < samples.size(); ++i) REQUIRE(std::abs(samples[i]) < 1e-4f);
}

TEST_CASE("a long file is read in pieces of any size") {
  const TemporaryFolder folder;
  const std::vector<float> samples = white_noise(300'000);
  for (const std::uint32_t rate : {16000U, 44100U}) {
    const auto path = folder.file("long.wav", wav_of({.coding = Coding::floating, .rate = rate, .bits = 32}, samples));
    const std::vector<float> all = read_all(path);
    AudioFile file(path);
    std::vector<float> found, piece;
    for (std::size_t size = 1;; size = size % 5000 + 777) {
      piece.resize(size);
      const std::size_t count = file.read(piece);
      found.insert(found.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
      if (count < size) break;
    }
    CHECK(found == all);
    CHECK(file.read(piece) == 0);
  }
}

TEST_CASE("a file that was cut off is read as far as it goes") {
  const std::vector<float> samples = white_noise(1000);
  std::string wav = wav_of({}, samples);
  wav.resize(wav.size() - 501);
  CHECK(read_content(wav).size() == 749);
}

TEST_CASE("other files are refused, with their name and the reason") {
  const std::vector<float> samples{0, 0.5f};
  check_refused("", "is not a WAV file");
  check_refused("not a sound at all", "is not a WAV file");
  check_refused(wav_of({}, samples).substr(0, 30), "is not a WAV file that can be read: ");
  check_refused(wav_of({.bits = 8}, samples), "expected 16-bit PCM or float samples, found Unsigned 8 bit PCM");
  check_refused(wav_of({.bits = 24}, samples), "expected 16-bit PCM or float samples, found Signed 24 bit PCM");
  check_refused(wav_of({.bits = 32}, samples), "expected 16-bit PCM or float samples, found Signed 32 bit PCM");
  check_refused(wav_of_bytes({.coding = Coding::mu_law, .bits = 8}, "abcd"),
                "expected 16-bit PCM or float samples, found U-Law");
  check_refused(std::string(".snd\0\0\0\x18\0\0\0\x04\0\0\0\x03\0\0\x3e\x80\0\0\0\x01"
                            "abcd",
                            28),
                "is not a WAV file");
  check_refused(wav_of({}, {}), "there are no samples");
  check_refused(wav_of({.rate = 62}, samples), "expected a rate from 63 to 4096000 samples a second, found 62");
  check_refused(wav_of({.rate = 5'000'000}, samples), "found 5000000");
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -2e6f}) {
    const std::vector<float> with_wrong{0, wrong, 0};
    check_refused(wav_of({.coding = Coding::floating, .bits = 32}, with_wrong),
                  "expected samples from -1 to 1, found ");
    check_refused(wav_of({.coding = Coding::floating, .rate = 48000, .bits = 32}, with_wrong), "expected samples");
  }
}

TEST_CASE("a file that is absent, and a folder, are refused") {
  const TemporaryFolder folder;
  CHECK(error_of(folder.path() / "absent.wav").find("absent.wav: cannot be opened: No such file") != std::string::npos);
  CHECK(error_of(folder.path()).find(folder.path().string() + ": is a folder, not a WAV file") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace keywords
