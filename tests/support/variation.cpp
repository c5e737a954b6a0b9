#include "variation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "random.hpp"
#include "weights.hpp"

namespace ladon_test {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::size_t given_or(std::size_t own, std::size_t tokens, std::size_t capacity) {
  if (own != ladon::all) return own;
  return tokens != ladon::all ? tokens : capacity;
}

// Returns the lengths that the tests use. For shapes of one token, most elements of the result are equal. The repeated
// tests cost little time.
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
  return {bottom_right,
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
    for (std::size_t k = 0; k < keys; ++k) bytes[k] = shown(k) ? static_cast<std::uint8_t>(1 + k * 37 % 255) : 0;
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

// Returns whether a mask shows key k to query q in head h. `pattern` selects one of eight patterns.
constexpr std::size_t pair_patterns = 8;
bool shown(std::size_t pattern, const ladon::Shape& shape, std::size_t h, std::size_t q, std::size_t k,
           Random& random) {
  const std::size_t middle = q * shape.keys / shape.queries;
  switch (pattern % pair_patterns) {
    case 0:
      return random.uniform() < 0.6;
    case 1:
      return true;
    case 2:
      return k <= middle + 3 && middle <= k + 3;
    case 3:
      return q % 2 == 1;
    case 4:
      return k == (q * 7 + h) % shape.keys;
    case 5:
      return k + 2 >= shape.keys;
    case 6:
      return (k / 5 + q + h) % 2 == 0;
    default:
      return false;
  }
}

std::size_t columns_to_try(std::size_t i, const ladon::Shape& shape) {
  const std::size_t all[] = {ladon::all, shape.keys - 1, (shape.keys + 1) / 2, shape.keys, 1};
  return all[i % 5];
}

// Fills the data of variation number `i`: the elements of masks for each pair of query and key, the slopes of ALiBi,
// the rotary offset and the sinks. `i` selects one of several patterns for each of these parameters.
void fill(const Subject& subject, Variation& variation, std::size_t i) {
  const ladon::Shape& shape = subject.shape;
  const MaskForm& mask = subject.mask;
  Random random(i * 977 + shape.queries * 13 + shape.keys);
  if (mask.takes_columns() && !mask.bits) variation.lengths.mask_keys = columns_to_try(i, shape);
  const auto each_pair = [&](bool per_head, auto f) {
    for (std::size_t h = 0; h < (per_head ? shape.heads : 1); ++h) {
      for (std::size_t q = 0; q < shape.queries; ++q) {
        for (std::size_t k = 0; k < variation.columns(shape); ++k) f(h, q, k);
      }
    }
  };
  if (mask.per_pair()) {
    each_pair(mask.boolean_per_head, [&](std::size_t h, std::size_t q, std::size_t k) {
      variation.pairs.push_back(shown(i, shape, h, q, k, random) ? static_cast<std::uint8_t>(1 + random.next() % 255)
                                                                 : 0);
    });
  }
  if (mask.adds()) {
    const std::size_t pattern = mask.per_pair() ? i / 2 + 1 : i;
    each_pair(mask.additive_per_head, [&](std::size_t h, std::size_t q, std::size_t k) {
      variation.values.push_back(shown(pattern, shape, h, q, k, random) ? random.normal(2) : -infinity);
    });
  }
  if (mask.alibi && i % 2 == 1) {
    for (std::size_t h = 0; h < shape.heads; ++h) variation.slopes.push_back(static_cast<float>(random.uniform()));
  }
  if (subject.score.positions > shape.keys) {
    variation.lengths.rotary_offset = i * 3 % (subject.score.positions - shape.keys + 1);
  }
  if (subject.score.sinks) {
    const float far[] = {-infinity, 20.0f, -20.0f};
    for (std::size_t h = 0; h < shape.heads; ++h) {
      variation.sinks.push_back((i + h) % 4 == 3 ? far[(i / 4 + h) % 3] : random.normal());
    }
  }
}

oracle::Bias alibi(const ladon::Shape& shape, const std::vector<float>& slopes, std::ptrdiff_t offset) {
  // If the number of heads is a power of two, head h has the slope 2^(-8 (h + 1) / heads). Otherwise, let n be the
  // largest power of two below the number of heads. The first n heads have the slopes of n heads. The remaining heads
  // have the slopes of heads 0, 2, 4, ... of 2 n heads
  // (https://github.com/ofirpress/attention_with_linear_biases, get_slopes).
  std::size_t power = 1;
  while (power * 2 <= shape.heads) power *= 2;
  return [=](std::size_t head, std::size_t query, std::size_t key) {
    const bool beyond = head >= power;
    const std::size_t of = beyond ? 2 * power : power, index = beyond ? 2 * (head - power) : head;
    double slope = std::exp2(-8 * static_cast<double>(index + 1) / static_cast<double>(of));
    if (!slopes.empty()) slope = static_cast<double>(slopes[head]);
    const auto distance = static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(query) - offset;
    return rounded(slope * static_cast<double>(distance), 0, 0, 2);
  };
}

std::ptrdiff_t bottom_right_of(const ladon::Shape& shape) {
  return static_cast<std::ptrdiff_t>(shape.keys) - static_cast<std::ptrdiff_t>(shape.queries);
}

oracle::Bias relative(std::ptrdiff_t offset) {
  return [=](std::size_t head, std::size_t query, std::size_t key) {
    const auto distance = static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(query) - offset;
    return Real(static_cast<double>(relative_number(head, distance)));
  };
}

std::ptrdiff_t offset_of(const Subject& subject, const Variation& variation) {
  const std::ptrdiff_t given = subject.mask.fixed_offset ? subject.mask.offset : variation.lengths.offset;
  constexpr std::ptrdiff_t far = 1 << 24;
  if (given != bottom_right) return std::clamp(given, -far, far);
  return bottom_right_of(subject.shape);
}

}  // namespace

std::size_t Variation::queries(const ladon::Shape& shape) const {
  return given_or(lengths.queries, lengths.tokens, shape.queries);
}
std::size_t Variation::keys(const ladon::Shape& shape) const {
  return given_or(lengths.keys, lengths.tokens, shape.keys);
}
std::size_t Variation::columns(const ladon::Shape& shape) const { return std::min(lengths.mask_keys, shape.keys); }

// Returns the variations that the tests use. First combines each element of lengths_to_try with one offset and one
// padding. Then combines the full lengths with every offset and every padding.
std::vector<Variation> variations(const Subject& subject) {
  const auto lengths = lengths_to_try(subject.shape);
  const auto offsets = offsets_to_try(subject.shape);
  const auto paddings = paddings_to_try(subject.shape.keys);
  const MaskForm& mask = subject.mask;
  const std::size_t more =
      std::max({mask.takes_offset() ? offsets.size() : 0, mask.padding ? paddings.size() : 0,
                mask.per_pair() || mask.adds() ? pair_patterns : 0, subject.score.sinks ? std::size_t(4) : 0});
  std::vector<Variation> all;
  for (std::size_t i = 0; i < lengths.size() + more; ++i) {
    Variation variation;
    if (i < lengths.size()) variation.lengths = lengths[i];
    if (mask.takes_offset()) variation.lengths.offset = offsets[i % offsets.size()];
    if (mask.alibi) variation.lengths.offset = offsets[i % 7];  // excludes 2^63: slope * 2^63 would swamp the scores
    if (mask.padding) variation.may_see = paddings[i % paddings.size()];
    fill(subject, variation, i);
    variation.poison_hidden_queries = i % 2 == 1;
    all.push_back(std::move(variation));
  }
  return all;
}

void fill_at_random(const Subject& subject, Variation& variation, std::uint64_t seed) {
  fill(subject, variation, pair_patterns * 5 * static_cast<std::size_t>(seed + 1));  // the random pattern, all columns
}

std::vector<std::uint32_t> to_bits(const ladon::Shape& shape, const std::vector<std::uint8_t>& pairs) {
  const std::size_t words = (shape.keys + 31) / 32;
  std::vector<std::uint32_t> bits(pairs.size() / shape.keys * words, ~0u);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::size_t key = i % shape.keys;
    if (pairs[i] == 0) bits[i / shape.keys * words + key / 32] &= ~(1u << key % 32);
  }
  return bits;
}

oracle::MaySee mask_of(const Subject& subject, const Variation& variation) {
  const MaskForm mask = subject.mask;
  std::size_t keys = variation.keys(subject.shape);
  const std::size_t columns = variation.columns(subject.shape);
  if (mask.takes_columns()) keys = std::min(keys, columns);
  const std::ptrdiff_t offset = offset_of(subject, variation);
  return [=, may_see = variation.may_see, pairs = variation.pairs](std::size_t query, std::size_t key) {
    if (key >= keys) return false;
    const auto ahead = static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(query) - offset;
    if (mask.causal && ahead > 0) return false;
    if (mask.window && mask.left != ladon::all && ahead < -static_cast<std::ptrdiff_t>(mask.left)) return false;
    if (mask.window && mask.right != ladon::all && ahead > static_cast<std::ptrdiff_t>(mask.right)) return false;
    if ((mask.bits || mask.boolean) && !pairs.empty() && pairs[query * columns + key] == 0) return false;
    return may_see.empty() || may_see[key] != 0;
  };
}

oracle::Heads heads_of(const Subject& subject, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  const MaskForm& mask = subject.mask;
  oracle::Heads heads = heads_of(shape);
  if (subject.score.scale != 0) heads.score.scale = subject.score.scale;
  heads.score.softcap = subject.score.softcap;
  heads.score.sinks = variation.sinks;
  heads.score.in_pairs = subject.in_pairs;
  heads.norms = subject.norms;
  heads.score.rotary = subject.score.rotary;
  heads.score.rotary.first_query += variation.lengths.rotary_offset;
  heads.score.rotary.first_key += variation.lengths.rotary_offset;
  const std::size_t columns = variation.columns(shape);
  const auto index = [=, queries = shape.queries](bool per_head, std::size_t h, std::size_t q, std::size_t k) {
    return ((per_head ? h * queries : 0) + q) * columns + k;
  };
  if (mask.boolean_per_head && !variation.pairs.empty()) {
    heads.score.biases.push_back([=, pairs = variation.pairs](std::size_t h, std::size_t q, std::size_t k) {
      return pairs[index(true, h, q, k)] != 0 ? Real(0) : Real(-std::numeric_limits<double>::infinity());
    });
  }
  if (mask.adds() && !variation.values.empty()) {
    const bool per_head = mask.additive_per_head;
    heads.score.biases.push_back([=, values = variation.values](std::size_t h, std::size_t q, std::size_t k) {
      return Real(static_cast<double>(values[index(per_head, h, q, k)]));
    });
  }
  if (mask.alibi) heads.score.biases.push_back(alibi(shape, variation.slopes, offset_of(subject, variation)));
  if (mask.relative)
    heads.score.biases.push_back(relative(variation.past == bottom_right ? bottom_right_of(shape) : variation.past));
  return heads;
}

Seen seen_of(const Subject& subject, const Variation& variation) {
  return [may_see = mask_of(subject, variation), biases = heads_of(subject, variation).score.biases](
             std::size_t h, std::size_t q, std::size_t k) {
    constexpr double hidden = -std::numeric_limits<double>::infinity();
    return may_see(q, k) &&
           std::ranges::none_of(biases, [&](const oracle::Bias& bias) { return bias(h, q, k).value == hidden; });
  };
}

bool seen_by_any(const oracle::MaySee& may_see, std::size_t queries, std::size_t key) {
  for (std::size_t q = 0; q < queries; ++q) {
    if (may_see(q, key)) return true;
  }
  return false;
}

bool seen_by_any(const Seen& seen, const ladon::Shape& shape, std::size_t queries, std::size_t key) {
  for (std::size_t h = 0; h < shape.heads; ++h) {
    if (seen_by_any([&](std::size_t q, std::size_t k) { return seen(h, q, k); }, queries, key)) return true;
  }
  return false;
}

void spoil_hidden_values(const Subject& subject, Variation& variation) {
  if (variation.values.empty()) return;
  const ladon::Shape& shape = subject.shape;
  const std::size_t columns = variation.columns(shape);
  Subject others = subject;  // the subject without the additive mask
  others.mask.additive = others.mask.additive_per_head = false;
  const Seen seen = seen_of(others, variation);
  for (std::size_t i = 0; i < variation.values.size(); ++i) {
    const std::size_t row = i / columns;
    if (seen(row / shape.queries, row % shape.queries, i % columns)) continue;
    variation.values[i] = i % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : infinity;
  }
}

void spoil_row(std::vector<float>& rows, std::size_t row, std::size_t width) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const float spoiled[] = {nan, infinity, -infinity};
  for (std::size_t i = 0; i < width; ++i) rows[row * width + i] = spoiled[row % 3];
}

std::string to_string(const Subject& subject, const Variation& variation) {
  const ladon::Shape& s = subject.shape;
  const MaskForm& mask = subject.mask;
  const auto number = [](auto n) { return std::to_string(n); };
  std::string text = "queries " + number(s.queries) + " keys " + number(s.keys) + " model " + number(s.model) +
                     " heads " + number(s.heads) + "/" + number(s.kv_heads) + " widths " + number(s.head_width) + "/" +
                     number(s.value_width) + "; active queries " + number(variation.queries(s)) + " keys " +
                     number(variation.keys(s));
  const std::pair<bool, const char*> parts[] = {{mask.causal, " causal"},
                                                {mask.window, " window"},
                                                {mask.padding, " padding"},
                                                {mask.bits, " bits"},
                                                {mask.boolean, " boolean"},
                                                {mask.boolean_per_head, " boolean per head"},
                                                {mask.additive, " additive"},
                                                {mask.additive_per_head, " additive per head"},
                                                {mask.alibi, " alibi"},
                                                {mask.relative, " relative"},
                                                {subject.score.softcap != 0, " softcap"},
                                                {subject.score.sinks, " sinks"},
                                                {subject.score.rotary.width != 0, " rotary"}};
  for (const auto& [has, name] : parts) text += has ? name : "";
  if (mask.takes_offset()) text += " offset " + number(variation.lengths.offset);
  if (mask.takes_columns()) text += " columns " + number(variation.columns(s));
  const auto append = [&](const std::vector<std::uint8_t>& bytes, const char* name) {
    if (bytes.empty() || bytes.size() > 2000) return;
    text += name;
    for (const std::uint8_t byte : bytes) text += byte != 0 ? '1' : '0';
  };
  append(variation.may_see, " bytes ");
  append(variation.pairs, " pairs ");
  return text;
}

}  // namespace ladon_test
