// Compares the features of a continuous sound with the features of separate windows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

#include "fixtures.hpp"
#include "stream.hpp"

namespace keywords {
namespace {

std::size_t frames_of(std::size_t samples) {
  return samples < frame_length ? 0 : (samples - frame_length) / frame_step + 1;
}

// Returns the features of the last frame_count frames of a sound. Rows before the first frame are zeros.
std::vector<float> expected_features(std::span<const float> samples) {
  FrontEnd front_end;
  const std::size_t all = frames_of(samples.size()), frames = std::min(all, frame_count);
  std::vector<float> features(frame_count * coefficients);
  if (frames > 0) {
    front_end.compute(samples.data() + (all - frames) * frame_step, frames,
                      features.data() + (frame_count - frames) * coefficients);
  }
  return features;
}

void check_equal(std::span<const float> found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  CHECK(std::memcmp(found.data(), expected.data(), found.size_bytes()) == 0);
}

}  // namespace

TEST_SUITE_BEGIN("stream");

TEST_CASE("chunks of any size give the features of the whole window, bit for bit") {
  const std::vector<float> samples = white_noise(2 * window_length);
  for (const std::size_t chunk :
       std::initializer_list<std::size_t>{1, 7, 159, 160, 161, 480, 1600, 2880, 5000, 16000, 32000}) {
    CAPTURE(chunk);
    FrontEnd front_end;
    FeatureStream stream(front_end);
    for (std::size_t i = 0; i < samples.size(); i += chunk)
      stream.add(std::span(samples).subspan(i, std::min(chunk, samples.size() - i)));
    CHECK(stream.frames() == frames_of(samples.size()));
    check_equal(stream.features(), expected_features(samples));
  }
}

TEST_CASE("features can be asked for at any time") {
  const std::vector<float> samples = white_noise(3 * window_length);
  FrontEnd front_end;
  FeatureStream stream(front_end);
  std::mt19937 random(2);
  std::size_t used = 0;
  check_equal(stream.features(), expected_features({}));
  while (used < samples.size()) {
    const std::size_t chunk = std::min<std::size_t>(random() % 900, samples.size() - used);
    stream.add(std::span(samples).subspan(used, chunk));
    used += chunk;
    CAPTURE(used);
    CHECK(stream.frames() == frames_of(used));
    if (random() % 4 == 0) check_equal(stream.features(), expected_features(std::span(samples).first(used)));
  }
}

TEST_CASE("after clear, a stream begins again") {
  const std::vector<float> samples = white_noise(window_length);
  FrontEnd front_end;
  FeatureStream stream(front_end);
  stream.add(std::span(samples).first(5000));
  stream.clear();
  CHECK(stream.frames() == 0);
  check_equal(stream.features(), expected_features({}));
  stream.add(samples);
  CHECK(stream.frames() == frame_count);
  check_equal(stream.features(), expected_features(samples));
}

TEST_SUITE_END();

}  // namespace keywords
