// Tests the functions of reader.hpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "encoder_weights.hpp"
#include "held_out.hpp"
#include "reader.hpp"

namespace date_reader {
namespace {

Workspace workspace;

// The largest allowed error of a logit. Logits reach 11. A logit is a sum of a hundred terms, and each rounding has a
// relative error of up to 2^-24. The largest observed error is 1.4e-5, a seventh of `tolerance`.
constexpr double tolerance = 1e-4;

// Returns the ISO date of the text, or "" if the text is no date.
std::string date_in(const std::string& text, auto& memory) {
  const Reading reading = read(text, memory);
  const auto iso = reading.iso();
  return reading.is_date() ? std::string(iso.data(), iso.size()) : "";
}

std::string date_in(const std::string& text) { return date_in(text, workspace); }

struct Score {
  int dates = 0, right = 0;   // texts that are dates, and how many of these are read correctly
  int others = 0, taken = 0;  // texts that are no dates, and how many of these are read as dates
  double share_right() const { return static_cast<double>(right) / dates; }
  double share_taken() const { return static_cast<double>(taken) / others; }
};

Score score_on_held_out_set(auto& memory) {
  Score score;
  for (const auto& [text, iso] : held_out()) {
    const std::string got = date_in(text, memory);
    if (iso.empty()) {
      ++score.others;
      score.taken += got.empty() ? 0 : 1;
    } else {
      ++score.dates;
      score.right += got == iso ? 1 : 0;
    }
  }
  REQUIRE(score.dates > 2000);
  REQUIRE(score.others > 1000);
  MESSAGE("right: " << score.right << " of " << score.dates << " dates; taken for one: " << score.taken << " of "
                    << score.others << " others");
  return score;
}

// Returns how well the model with float32 weights reads the held-out set. The score is computed only once.
const Score& float32_score() {
  static const Score score = score_on_held_out_set(workspace);
  return score;
}

Status status_of(const std::string& text) { return read(text, workspace).status; }

std::string squeezed(const std::string& text) {
  Squeezed result;
  return squeeze(text, result) == Status::date ? std::string(result.view()) : "refused";
}

// Runs the model with the tokens in the order of the training: 40 places for the text, then the slots. The text stands
// at the end of the 40 places, and a mask hides the places before the text. Computes the classifier in float64.
void run_as_trained(std::string_view text, double (&logits)[classes][slots]) {
  using Trained = ladon::Encoder<model_sizes, ladon::mask::Padding>;
  constexpr std::size_t model = shape.model;
  const auto memory = std::make_unique<Trained::Workspace>();
  float tokens[shape.queries][model] = {};
  std::uint8_t may_see[shape.keys ? shape.keys : shape.queries] = {};
  const std::string_view alphabet = weights::alphabet;
  for (std::size_t place = longest_text - text.size(); place < longest_text; ++place) {
    const auto found = alphabet.find(text[place + text.size() - longest_text]);
    const std::size_t id = found == alphabet.npos ? 0 : found + 1;
    may_see[place] = 1;
    for (std::size_t i = 0; i < model; ++i) {
      tokens[place][i] = weights::character[id * model + i] + weights::position[place * model + i];
    }
  }
  for (std::size_t s = 0; s < slots; ++s) {
    may_see[longest_text + s] = 1;
    for (std::size_t i = 0; i < model; ++i) tokens[longest_text + s][i] = weights::slot[s * model + i];
  }
  Trained::run(tokens, encoder_weights, tokens, *memory, {.mask = {may_see}});
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t s = 0; s < slots; ++s) {
      logits[c][s] = weights::classifier_bias[c];
      for (std::size_t i = 0; i < model; ++i) {
        logits[c][s] += static_cast<double>(weights::classifier_weight[c * model + i]) *
                        static_cast<double>(tokens[longest_text + s][i]);
      }
    }
  }
}

}  // namespace

TEST_SUITE_BEGIN("reader");

TEST_CASE("the held-out set: 99% of dates correct, at most 1% of other texts read as dates") {
  CHECK(float32_score().share_right() >= 0.99);
  CHECK(float32_score().share_taken() <= 0.01);
}

TEST_CASE("int8 weights on the held-out set: at most 0.2 points worse than float32") {
  static Int8Workspace int8_workspace;
  const Score int8 = score_on_held_out_set(int8_workspace);
  CHECK(int8.share_right() >= float32_score().share_right() - 0.002);
  CHECK(int8.share_taken() <= float32_score().share_taken() + 0.002);
  CHECK(int8_weight_bytes < weight_bytes / 2);
}

TEST_CASE("every form") {
  for (const char* text :
       {"3 February 2024", "February 3 2024", "the 3rd of February, 2024", "3rd of Feb, 2024", "Feb. 3, 2024",
        "Saturday, 3 Feb 2024", "2024-02-03", "2024/2/3", "2024.02.03", "20240203", "3.2.2024", "2/3/2024",
        "3-Feb-2024", "2/3/24", "3 feb '24", "  THE  3RD OF   february 2024 "}) {
    CAPTURE(text);
    CHECK(date_in(text) == "2024-02-03");
  }
  CHECK(date_in("Sept 9 1999") == "1999-09-09");
  CHECK(date_in("31.12.68") == "2068-12-31");
  CHECK(date_in("12/31/69") == "1969-12-31");
}

TEST_CASE("no dates") {
  for (const char* text : {"192.168.0.1", "may 2024", "5 may 2001 at noon", "31.4.2021", "march on", "x",
                           "hello, world", "2024-02", "12:30", "%&*"}) {
    CAPTURE(text);
    CHECK(status_of(text) == Status::no_date);
  }
}

TEST_CASE("the calendar") {
  for (const char* text : {"2024-02-29", "2000-02-29", "1000-01-01", "2999-12-31", "2023-01-31", "2023-04-30"}) {
    CAPTURE(text);
    CHECK(date_in(text) == text);
  }
  for (const char* text : {"2023-02-29", "1900-02-29", "0999-12-31", "3000-01-01", "2023-00-10", "2023-13-10",
                           "2023-04-31", "2023-12-32", "2023-12-00"}) {
    CAPTURE(text);
    CHECK(status_of(text) == Status::no_date);
  }
}

TEST_CASE("the text as the model sees it") {
  CHECK(squeezed("  3rd\t of\r\n  FEB  ") == "3rd of feb");
  CHECK(squeezed("x") == "x");
  CHECK(squeezed(std::string(longest_text, 'a')) == std::string(longest_text, 'a'));
  CHECK(squeezed("  " + std::string(longest_text - 2, 'a') + "    b  ") == std::string(longest_text - 2, 'a') + " b");
}

TEST_CASE("texts that cannot be a date") {
  CHECK(status_of("") == Status::empty);
  CHECK(status_of(" \t\r\n ") == Status::empty);
  CHECK(status_of(std::string(longest_text + 1, 'a')) == Status::too_long);
  CHECK(status_of(std::string(longest_text - 1, 'a') + " b") == Status::too_long);
  CHECK(status_of(std::string(100000, '1')) == Status::too_long);
  CHECK(status_of("3 f\xc3\xa9vrier 2024") == Status::not_ascii);
  CHECK(status_of(std::string(100, 'a') + '\xff') == Status::not_ascii);
  CHECK(status_of(std::string(1, '\0')) == Status::no_date);
}

TEST_CASE("a reading has the probability of each digit") {
  const Reading reading = read("3rd of Feb, 2024", workspace);
  for (const float sure : reading.certainty) {
    CHECK(sure >= weights::sure_enough);
    CHECK(sure <= 1);
  }
  const Reading again = read("3rd of Feb, 2024", workspace);
  CHECK(again.certainty == reading.certainty);
}

TEST_CASE("the logits agree with numpy's float64 logits") {
  struct Row {
    const char* text;
    std::size_t slot;
    double logits[classes];
  };
  // These logits were computed with numpy. After a new training, compute them again.
  constexpr Row rows[] = {
      {"3rd of Feb, 2024",
       0,
       {-5.337187, -6.376360, 6.460576, -6.344317, -6.908759, -5.079653, -6.401746, -5.137370, -5.673939, -4.194812,
        3.642389}},
      {"3rd of Feb, 2024",
       5,
       {-4.384257, -3.262120, 6.110287, -5.611540, -6.476687, -6.294359, -7.966222, -8.928293, -4.895679, -4.441407,
        3.364243}},
      {"Sat, Feb. 3rd, '24",
       7,
       {-2.728539, -4.068679, -3.575207, 7.502311, -5.508329, -5.217344, -5.388362, -4.644326, -4.381585, -2.979720,
        3.370019}},
      {"192.168.0.1",
       3,
       {-7.280871, -5.943081, -7.261224, -7.770684, -7.795710, -8.846610, -8.177351, -9.121470, -8.255981, -8.675994,
        7.056139}},
  };
  for (const Row& row : rows) {
    Squeezed text;
    REQUIRE(squeeze(row.text, text) == Status::date);
    Logits logits;
    run_model(text, logits, workspace);
    for (std::size_t c = 0; c < classes; ++c) {
      CHECK(std::abs(static_cast<double>(logits[c][row.slot]) - row.logits[c]) < tolerance);
    }
  }
}

TEST_CASE("slots first with an active length give the logits of the training's order: slots last with a mask") {
#if LADON_TEST_SET_QUICK
  constexpr std::size_t step = 200;
#else
  constexpr std::size_t step = 20;
#endif
  double worst = 0;
  const auto examples = held_out();
  for (std::size_t e = 0; e < examples.size(); e += step) {
    Squeezed text;
    REQUIRE(squeeze(examples[e].text, text) == Status::date);
    Logits logits;
    run_model(text, logits, workspace);
    double trained[classes][slots];
    run_as_trained(text.view(), trained);
    for (std::size_t c = 0; c < classes; ++c) {
      for (std::size_t s = 0; s < slots; ++s) {
        worst = std::max(worst, std::abs(static_cast<double>(logits[c][s]) - trained[c][s]));
      }
    }
  }
  MESSAGE("largest difference: " << worst);
  CHECK(worst < tolerance);
}

TEST_SUITE_END();

}  // namespace date_reader
