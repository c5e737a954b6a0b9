// Compares the front end with the float64 oracle (oracle.hpp).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "front_end.hpp"
#include "oracle.hpp"

namespace keywords {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::size_t samples_of(std::size_t frames) { return (frames - 1) * frame_step + frame_length; }

// The largest error bound and the largest error that check_frames has seen. The tests also require that the bound is
// small, because a large bound would accept wrong results.
struct Largest {
  double bound = 0, error = 0;
};

void check_frames(const std::vector<float>& samples, std::size_t frames, Largest& largest) {
  const auto front_end = std::make_unique<FrontEnd>();
  std::vector<float> features(frames * coefficients, nan), log_bands(frames * mel_bands, nan);
  front_end->compute(samples.data(), frames, features.data(), log_bands.data());
  for (std::size_t frame = 0; frame < frames; ++frame) {
    CAPTURE(frame);
    const FrameOracle oracle = compute_oracle(std::span(samples).subspan(frame * frame_step).first<frame_length>());
    for (std::size_t n = 0; n < mel_bands; ++n) {
      CAPTURE(n);
      CHECK(std::abs(double{log_bands[frame * mel_bands + n]} - oracle.log_bands[n]) <= oracle.log_band_bound[n]);
    }
    for (std::size_t k = 0; k < coefficients; ++k) {
      CAPTURE(k);
      CHECK(std::abs(double{features[frame * coefficients + k]} - oracle.features[k]) <= oracle.feature_bound[k]);
      largest.bound = std::max(largest.bound, oracle.feature_bound[k]);
      largest.error =
          std::max(largest.error, std::abs(double{features[frame * coefficients + k]} - oracle.features[k]));
    }
  }
}

std::vector<float> chirp_in_noise(std::size_t count) {
  std::vector<float> samples = white_noise(count, 0.1f);
  for (std::size_t i = 0; i < count; ++i) {
    const double time = static_cast<double>(i) / sample_rate;
    samples[i] += static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * (100 + 3500 * time) * time));
  }
  return samples;
}

}  // namespace

TEST_SUITE_BEGIN("front_end");

TEST_CASE("features and mel bands agree with the oracle") {
  const std::size_t frames = lane_count + 3, count = samples_of(frames);
  Largest largest;
  SUBCASE("white noise") { check_frames(white_noise(count), frames, largest); }
  SUBCASE("loud noise") { check_frames(white_noise(count, 1000), frames, largest); }
  SUBCASE("quiet noise") { check_frames(white_noise(count, 1e-6f), frames, largest); }
  SUBCASE("a chirp in noise") { check_frames(chirp_in_noise(count), frames, largest); }
  SUBCASE("an impulse") {
    std::vector<float> samples(samples_of(1));
    samples[frame_length / 2] = 1;
    check_frames(samples, 1, largest);
  }
  CHECK(largest.bound < 0.05);
  CHECK(largest.error < 2e-4);  // much less than the bound, which holds for the worst case
}

TEST_CASE("digital silence gives the logarithm of the floor in each band") {
  const std::vector<float> samples(samples_of(3));
  Largest largest;
  check_frames(samples, 3, largest);
  CHECK(largest.bound < 0.05);
}

TEST_CASE("any number of frames gives the same numbers, and reads and writes nothing else") {
  const auto fresh = std::make_unique<FrontEnd>(), used = std::make_unique<FrontEnd>();
  const std::vector<float> samples = chirp_in_noise(samples_of(frame_count));
  std::vector<float> all(frame_count * coefficients), all_bands(frame_count * mel_bands);
  fresh->compute(samples.data(), frame_count, all.data(), all_bands.data());
  const std::vector<float> poison(samples.size(), nan);
  std::vector<float> unused(frame_count * coefficients);
  for (std::size_t frames = 1; frames <= frame_count; ++frames) {
    CAPTURE(frames);
    const std::size_t margin = 64;
    std::vector<float> padded(samples_of(frames) + 2 * margin, nan);
    std::copy_n(samples.begin(), samples_of(frames), padded.begin() + margin);
    std::vector<float> features(frames * coefficients + 2 * margin, nan), bands(frames * mel_bands + 2 * margin, nan);
    used->compute(poison.data(), frame_count, unused.data());  // leaves NaN in the memory of the front end
    used->compute(padded.data() + margin, frames, features.data() + margin, bands.data() + margin);
    CHECK(std::memcmp(features.data() + margin, all.data(), frames * coefficients * sizeof(float)) == 0);
    CHECK(std::memcmp(bands.data() + margin, all_bands.data(), frames * mel_bands * sizeof(float)) == 0);
    for (std::size_t i = 0; i < margin; ++i) {
      CHECK(std::isnan(features[i]));
      CHECK(std::isnan(features[features.size() - 1 - i]));
      CHECK(std::isnan(bands[i]));
      CHECK(std::isnan(bands[bands.size() - 1 - i]));
    }
  }
}

TEST_SUITE_END();

}  // namespace keywords
