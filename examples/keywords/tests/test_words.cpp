// Tests WordDetector, which finds words from the probabilities of windows.
#include <doctest/doctest.h>

#include <vector>

#include "words.hpp"

namespace keywords {
namespace {

constexpr std::size_t yes = 2, no = 3, stride = sample_rate / 10;

Probabilities certain_of(std::size_t label, float probability = 0.9f) {
  Probabilities probabilities{};
  probabilities[label] = probability;
  return probabilities;
}

// Adds `count` windows with these probabilities to the detector, and appends the detected words to `words`.
void add(WordDetector& detector, std::vector<DetectedWord>& words, const Probabilities& probabilities, int count) {
  for (int i = 0; i < count; ++i) {
    if (const auto word = detector.add(probabilities)) words.push_back(*word);
  }
}

}  // namespace

TEST_SUITE_BEGIN("words");

TEST_CASE("a word is reported when the average over half a second reaches the threshold") {
  WordDetector detector(stride);
  std::vector<DetectedWord> words;
  add(detector, words, certain_of(yes), 3);
  CHECK(words.empty());  // 3 of 5 windows have the word: the average 0.54 is below the threshold 0.6
  add(detector, words, certain_of(yes), 1);
  REQUIRE(words.size() == 1);  // 4 of 5 windows have the word: the average 0.72 reaches the threshold
  CHECK(words[0].label == yes);
  CHECK(words[0].start == 3 * stride);
  CHECK(words[0].probability == doctest::Approx(0.72));
}

TEST_CASE("windows that are less certain, silence and unknown words are not reported") {
  std::vector<DetectedWord> words;
  WordDetector detector(stride);
  add(detector, words, certain_of(yes, 0.59f), 20);
  add(detector, words, certain_of(0), 20);
  add(detector, words, certain_of(1), 20);
  CHECK(words.empty());
}

TEST_CASE("one word is reported once, and again when it was gone") {
  std::vector<DetectedWord> words;
  WordDetector detector(stride);
  add(detector, words, certain_of(yes), 8);
  add(detector, words, certain_of(0), 4);
  CHECK(words.size() == 1);
  add(detector, words, certain_of(yes), 8);
  CHECK(words.size() == 2);
}

TEST_CASE("the same word without a pause is reported again after a window's length") {
  std::vector<DetectedWord> words;
  WordDetector detector(stride);
  add(detector, words, certain_of(yes), 13);
  CHECK(words.size() == 1);  // the report at window 3; the next report is due 10 windows later
  add(detector, words, certain_of(yes), 1);
  REQUIRE(words.size() == 2);
  CHECK(words[1].start - words[0].start == window_length);
}

TEST_CASE("another word is suppressed for half a second") {
  std::vector<DetectedWord> words;
  WordDetector detector(stride);
  add(detector, words, certain_of(yes), 4);
  add(detector, words, certain_of(no), 4);
  CHECK(words.size() == 1);
  add(detector, words, certain_of(no), 1);
  REQUIRE(words.size() == 2);
  CHECK(words[1].label == no);
  CHECK(words[1].start - words[0].start == WordDetector::suppressed);
}

TEST_CASE("the shortest and the longest stride") {
  std::vector<DetectedWord> words;
  WordDetector shortest(frame_step);
  add(shortest, words, certain_of(yes), 33);
  CHECK(words.empty());  // 33 of 50 windows have the word: the average 0.594 is below the threshold 0.6
  add(shortest, words, certain_of(yes), 1);
  CHECK(words.size() == 1);
  words.clear();
  WordDetector longest(sample_rate);
  add(longest, words, certain_of(yes), 1);
  add(longest, words, certain_of(no), 1);
  CHECK(words.size() == 2);
}

TEST_SUITE_END();

}  // namespace keywords
