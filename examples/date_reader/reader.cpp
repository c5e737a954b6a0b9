#include "reader.hpp"

#include <iterator>
#include <ladon/detail/vec/elementary.hpp>

#include "encoder_weights.hpp"
#include "reader_steps.hpp"

namespace date_reader {
namespace {

namespace w = weights;

constexpr std::size_t model = shape.model;

// Checks the sizes of the embedding tables and of the classifier. The views in encoder_weights check the
// sizes of all other arrays.
static_assert(std::size(w::slot) == slots * model && std::size(w::position) == longest_text * model);
static_assert(std::size(w::character) == std::size(w::alphabet) * model, "one more than letters, as is the final NUL");
static_assert(std::size(w::classifier_weight) == classes * model && std::size(w::classifier_bias) == classes);

// character_ids[c] is the row of the ASCII character c in the table of character embeddings. Row 0 is for all
// characters that are not in w::alphabet.
constexpr auto character_ids = [] {
  std::array<std::uint8_t, 128> ids{};
  for (std::size_t i = 0; i + 1 < std::size(w::alphabet); ++i) {
    ids[static_cast<unsigned char>(w::alphabet[i])] = static_cast<std::uint8_t>(i + 1);
  }
  return ids;
}();

struct Tables {
  float slot(std::size_t row, std::size_t i) const noexcept { return w::slot[row * model + i]; }
  float character(std::size_t row, std::size_t i) const noexcept { return w::character[row * model + i]; }
  float position(std::size_t row, std::size_t i) const noexcept { return w::position[row * model + i]; }
};

constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A vector with one lane for each slot. A slot is a token that answers with one digit of the date.
using Lanes = ladon::detail::vec::ArrayPack<slots>;

// Sets reading.digits to the likeliest class (a digit or "no date") of each slot, and reading.certainty to the
// probability of this class. The probabilities are the softmax of the slot's logits.
void choose(const Logits& logits, Reading& reading) noexcept {
  reading.digits = {};
  Lanes largest = Lanes::load(logits[0].data());
  for (std::size_t c = 1; c < classes; ++c) {
    for (std::size_t s = 0; s < slots; ++s) {
      if (logits[c][s] > largest.lane[s]) reading.digits[s] = static_cast<std::uint8_t>(c);
    }
    largest = maximum(largest, Lanes::load(logits[c].data()));
  }
  Lanes sum = Lanes::broadcast(0);
  for (const auto& logit : logits) sum = sum + ladon::detail::vec::exp(Lanes::load(logit.data()) - largest);
  (Lanes::broadcast(1) / sum).store(reading.certainty.data());
}

constexpr bool in_calendar(int year, int month, int day) noexcept {
  constexpr int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < first_year || year > last_year || month < 1 || month > 12) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day >= 1 && day <= days[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool holds_date(const Reading& reading) noexcept {
  for (std::size_t s = 0; s < slots; ++s) {
    if (reading.digits[s] == no_date_class || !(reading.certainty[s] >= w::sure_enough)) return false;
  }
  const auto number = [&](std::size_t first, std::size_t end) {
    int value = 0;
    for (std::size_t s = first; s < end; ++s) value = value * 10 + reading.digits[s];
    return value;
  };
  return in_calendar(number(0, 4), number(4, 6), number(6, 8));
}

}  // namespace

const std::size_t weight_bytes = all_weight_bytes;

Status squeeze(std::string_view text, Squeezed& squeezed) noexcept {
  squeezed = {};
  bool gap = false, too_long = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 128) return Status::not_ascii;
    if (is_space(c)) {
      gap = squeezed.size > 0;
      continue;
    }
    if (squeezed.size + (gap ? 2 : 1) > longest_text) too_long = true;
    if (too_long) continue;
    if (gap) squeezed.characters[squeezed.size++] = ' ';
    squeezed.characters[squeezed.size++] = lower(c);
    gap = false;
  }
  return too_long ? Status::too_long : squeezed.size == 0 ? Status::empty : Status::date;
}

std::size_t character_id(char character) noexcept { return character_ids[static_cast<unsigned char>(character)]; }

void classify(const float (&tokens)[shape.queries][model], Logits& logits) noexcept {
  Lanes features[model];
  for (std::size_t i = 0; i < model; ++i) {
    for (std::size_t s = 0; s < slots; ++s) features[i].lane[s] = tokens[s][i];
  }
  for (std::size_t c = 0; c < classes; ++c) {
    Lanes sum = Lanes::broadcast(w::classifier_bias[c]);
    for (std::size_t i = 0; i < model; ++i) {
      sum = fma(features[i], Lanes::broadcast(w::classifier_weight[c * model + i]), sum);
    }
    sum.store(logits[c].data());
  }
}

void choose_date(const Logits& logits, Reading& reading) noexcept {
  choose(logits, reading);
  if (!holds_date(reading)) reading.status = Status::no_date;
}

void run_model(const Squeezed& text, Logits& logits, Workspace& workspace, Attention* attention) noexcept {
  run_model_with(encoder_weights, Tables{}, text, logits, workspace, attention);
}

Reading read(std::string_view text, Workspace& workspace, Attention* attention) noexcept {
  return read_with(encoder_weights, Tables{}, text, workspace, attention);
}

}  // namespace date_reader
