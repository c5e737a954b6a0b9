#include "variation.hpp"

#include <algorithm>
#include <limits>

namespace ladon_test {

namespace {

using Lengths = Call;

std::size_t given_or(std::size_t own, std::size_t tokens, std::size_t capacity) {
  if (own != ladon::all) return own;
  return tokens != ladon::all ? tokens : capacity;
}

// In every shape of one token most of these are the same: that costs little.
std::vector<Lengths> lengths_to_try(const ladon::Shape& shape) {
  const std::size_t queries = shape.queries, keys = shape.keys, tokens = std::min(queries, keys);
  return {{},
          {.queries = (queries + 1) / 2},
          {.keys = (keys + 1) / 2},
          {.queries = 0},
          {.keys = 0},
          {.tokens = tokens * 2 / 3},
          {.queries = 1, .keys = keys},
          {.queries = queries, .keys = 1},
          {.queries = queries - 1, .keys = keys - 1},
          {.tokens = tokens, .keys = keys / 3},
          {.tokens = 1},
          {.tokens = 0}};
}

std::vector<std::ptrdiff_t> offsets_to_try(const ladon::Shape& shape) {
  const auto queries = static_cast<std::ptrdiff_t>(shape.queries), keys = static_cast<std::ptrdiff_t>(shape.keys);
  return {ladon::mask::usual_offset,
          0,
          -1,
          3,
          keys / 2,
          -(queries / 2),
          -queries,
          keys,
          std::numeric_limits<std::ptrdiff_t>::max(),
          std::numeric_limits<std::ptrdiff_t>::min() + 1};
}

std::vector<std::vector<std::uint8_t>> paddings_to_try(std::size_t keys) {
  const auto pattern = [&](auto shown) {
    std::vector<std::uint8_t> bytes(keys);
    for (std::size_t k = 0; k < keys; ++k) bytes[k] = shown(k) ? 1 : 0;
    return bytes;
  };
  return {pattern([](std::size_t k) { return k % 3 != 1; }),
          {},
          pattern([&](std::size_t k) { return k >= keys / 3; }),
          pattern([](std::size_t) { return false; }),
          pattern([&](std::size_t k) { return k + 1 == keys; }),
          pattern([&](std::size_t k) { return k < (keys + 1) / 2; }),
          pattern([](std::size_t k) { return (k / 7) % 2 == 0; }),
          pattern([](std::size_t k) { return k == 0; })};
}

}  // namespace

std::size_t Variation::queries(const ladon::Shape& shape) const {
  return given_or(given.queries, given.tokens, shape.queries);
}
std::size_t Variation::keys(const ladon::Shape& shape) const { return given_or(given.keys, given.tokens, shape.keys); }

// Every length with some offset and padding, every offset and padding with full lengths.
std::vector<Variation> variations(const Subject& subject) {
  const auto lengths = lengths_to_try(subject.shape);
  const auto offsets = offsets_to_try(subject.shape);
  const auto paddings = paddings_to_try(subject.shape.keys);
  const std::size_t more = std::max(subject.causal ? offsets.size() : 0, subject.padding ? paddings.size() : 0);
  std::vector<Variation> all;
  for (std::size_t i = 0; i < lengths.size() + more; ++i) {
    Variation variation;
    if (i < lengths.size()) variation.given = lengths[i];
    if (subject.causal) variation.given.offset = offsets[i % offsets.size()];
    if (subject.padding) variation.may_see = paddings[i % paddings.size()];
    variation.poison_hidden_queries = i % 2 == 1;
    all.push_back(std::move(variation));
  }
  return all;
}

oracle::MaySee mask_of(const Subject& subject, const Variation& variation) {
  const std::size_t keys = variation.keys(subject.shape);
  std::ptrdiff_t offset = variation.given.offset;
  if (offset == ladon::mask::usual_offset) {
    offset = static_cast<std::ptrdiff_t>(subject.shape.keys) - static_cast<std::ptrdiff_t>(subject.shape.queries);
  }
  return [=, causal = subject.causal, padding = variation.may_see](std::size_t query, std::size_t key) {
    if (key >= keys) return false;
    if (causal && static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(query) > offset) return false;
    return padding.empty() || padding[key] != 0;
  };
}

bool seen_by_any(const oracle::MaySee& may_see, std::size_t queries, std::size_t key) {
  for (std::size_t q = 0; q < queries; ++q) {
    if (may_see(q, key)) return true;
  }
  return false;
}

void spoil_row(std::vector<float>& rows, std::size_t row, std::size_t width) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const float spoiled[] = {nan, infinity, -infinity};
  for (std::size_t i = 0; i < width; ++i) rows[row * width + i] = spoiled[row % 3];
}

std::string to_string(const Subject& subject, const Variation& variation) {
  const ladon::Shape& s = subject.shape;
  const auto number = [](auto n) { return std::to_string(n); };
  std::string text = "queries " + number(s.queries) + " keys " + number(s.keys) + " model " + number(s.model) +
                     " heads " + number(s.heads) + "/" + number(s.kv_heads) + " widths " + number(s.head_width) + "/" +
                     number(s.value_width) + (subject.causal ? " causal" : "") + (subject.padding ? " padding" : "") +
                     "; active queries " + number(variation.queries(s)) + " keys " + number(variation.keys(s));
  if (subject.causal) text += " offset " + number(variation.given.offset);
  if (!variation.may_see.empty()) {
    text += " bytes ";
    for (const std::uint8_t byte : variation.may_see) text += byte != 0 ? '1' : '0';
  }
  return text;
}

}  // namespace ladon_test
