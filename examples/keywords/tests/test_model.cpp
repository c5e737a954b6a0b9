// Compares KWT-1 in Ladon with KWT-1 in LiteRT: the model alone, and the whole computation from samples to labels.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "spotter.hpp"

namespace keywords {
namespace {

using Second = std::array<float, window_length>;

// A row of tests/data/keywords_litert.tsv: the answer of LiteRT for one variant of a recording. A variant is a
// recording that is shifted, scaled and mixed with noise. The comment at the top of the tsv file defines the variants.
struct LiteRtAnswer {
  std::string recording;
  int shift = 0;  // milliseconds
  float scale = 1, noise = 0;
  std::string label;
  Logits logits{};
};

std::vector<LiteRtAnswer> litert_answers() {
  std::vector<LiteRtAnswer> answers;
  std::ifstream file(KEYWORDS_ANSWERS);
  bool is_heading = true;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (!is_heading) {
      std::istringstream fields(line);
      LiteRtAnswer answer;
      fields >> answer.recording >> answer.shift >> answer.scale >> answer.noise >> answer.label;
      for (float& logit : answer.logits) fields >> logit;
      REQUIRE(!fields.fail());
      answers.push_back(answer);
    }
    is_heading = false;
  }
  return answers;
}

Second recording(const std::string& name) {
  const std::vector<float> samples = read_all(model_folder() / name);
  REQUIRE(samples.size() == window_length);
  Second window;
  std::ranges::copy(samples, window.begin());
  return window;
}

// Computes a variant of a recording (shifted, scaled and mixed with noise) as litert_answers.py does. The test is
// compiled with -ffp-contract=off, so both products are rounded before the sum.
Second variant(const Second& samples, const Second& noise, const LiteRtAnswer& answer) {
  const int start = 16 * answer.shift;
  Second y;
  for (int i = 0; i < static_cast<int>(window_length); ++i) {
    const int from = i - start;
    const bool is_inside = from >= 0 && from < static_cast<int>(window_length);
    const float x = is_inside ? samples[static_cast<std::size_t>(from)] : 0.0f;
    y[static_cast<std::size_t>(i)] = answer.scale * x + answer.noise * noise[static_cast<std::size_t>(i)];
  }
  return y;
}

template <class A, class B>
double largest_difference(const A& a, const B& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= most)) most = difference;  // also true for NaN
  }
  return most;
}

double margin(Logits logits) {
  std::ranges::sort(logits, std::greater());
  return static_cast<double>(logits[0] - logits[1]);
}

}  // namespace

TEST_SUITE_BEGIN("conformance");

TEST_CASE("features, logits and labels of the recordings are LiteRT's") {
  LADON_SKIP_WITHOUT(model_file());
  LADON_SKIP_WITHOUT(model_folder() / "expected.json");
  Spotter spotter(model_file()), int8(model_file(), Precision::int8);
  std::ifstream file(model_folder() / "expected.json");
  const auto cases = nlohmann::json::parse(file).at("cases");
  REQUIRE(cases.size() == 4);
  for (const auto& expected : cases) {
    const auto name = expected.at("file").get<std::string>();
    CAPTURE(name);
    std::vector<float> expected_features;
    for (const auto& row : expected.at("features"))
      for (const float feature : row) expected_features.push_back(feature);
    const FeatureArray features = spotter.features(recording(name));
    REQUIRE(expected_features.size() == features.size());
    CHECK(largest_difference(features, expected_features) < 2e-4);
    const Logits logits = spotter.logits_of_features(features);
    CHECK(largest_difference(logits, expected.at("logits").get<std::vector<float>>()) < 1e-3);
    CHECK(labels[largest(logits)] == expected.at("label").get<std::string>());
    CHECK(largest_difference(int8.logits_of_features(features), logits) < 0.3);
  }
}

TEST_CASE("labels of all variants are LiteRT's, and int8 is near float32") {
  LADON_SKIP_WITHOUT(model_file());
  for (const char* name : {"yes", "no", "noise", "silence"})
    LADON_SKIP_WITHOUT(model_folder() / (std::string(name) + "_1000ms.wav"));
  Spotter spotter(model_file()), int8(model_file(), Precision::int8);
  const std::vector<LiteRtAnswer> answers = litert_answers();
  REQUIRE(answers.size() == 440);
  std::map<std::string, Second> recordings;
  for (const LiteRtAnswer& answer : answers) {
    if (!recordings.contains(answer.recording)) recordings[answer.recording] = recording(answer.recording);
  }
  double difference = 0, int8_difference = 0;
  int int8_labels = 0, variants = 0;
  for (std::size_t i = 0; i < answers.size(); i += KEYWORDS_ANSWER_STEP) {
    const LiteRtAnswer& answer = answers[i];
    CAPTURE(answer.recording);
    CAPTURE(answer.shift);
    CAPTURE(answer.scale);
    CAPTURE(answer.noise);
    const Second samples = variant(recordings[answer.recording], recordings["noise_1000ms.wav"], answer);
    const FeatureArray features = spotter.features(samples);
    const Logits logits = spotter.logits_of_features(features), quantised = int8.logits_of_features(features);
    CHECK(labels[largest(logits)] == answer.label);
    CHECK(largest_difference(logits, answer.logits) < 1e-3);
    CHECK(largest_difference(quantised, logits) < 0.3);
    if (margin(logits) > 0.6) CHECK(largest(quantised) == largest(logits));
    difference = std::max(difference, largest_difference(logits, answer.logits));
    int8_difference = std::max(int8_difference, largest_difference(quantised, logits));
    int8_labels += largest(quantised) == largest(logits) ? 1 : 0;
    ++variants;
  }
  MESSAGE(variants << " variants: logits within " << difference << " of LiteRT's; int8 within " << int8_difference
                   << " of float32, with " << int8_labels << " equal labels");
}

TEST_CASE("asking for the attention changes nothing, and its rows are shares") {
  LADON_SKIP_WITHOUT(model_file());
  Spotter spotter(model_file());
  Second samples;
  std::ranges::copy(white_noise(window_length), samples.begin());
  const FeatureArray features = spotter.features(samples);
  ClassAttention attention;
  CHECK(spotter.logits_of_features(features, attention) == spotter.logits_of_features(features));
  CHECK(spotter.logits(samples) == spotter.logits_of_features(features));
  for (const auto& row : attention) {
    double sum = 0;
    for (const float share : row) {
      CHECK(share >= 0);
      sum += static_cast<double>(share);
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
}

TEST_SUITE_END();

}  // namespace keywords
