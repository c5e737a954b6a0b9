// The part of a call that can change at run time: lengths, offsets, the data of masks and scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "subject.hpp"

namespace ladon_test {

struct Variation {
  Lengths lengths{};
  std::vector<std::uint8_t> may_see{};  // [keys]; empty: null
  std::vector<std::uint8_t> pairs{};    // [heads or 1][queries][columns], of Bits and Boolean
  std::vector<float> values{};          // [heads or 1][queries][columns], of Additive
  std::vector<float> slopes{};          // [heads]; empty: null
  std::vector<float> sinks{};           // [heads]
  bool poison_hidden_queries = false;

  std::size_t queries(const ladon::Shape& shape) const;  // as they result
  std::size_t keys(const ladon::Shape& shape) const;
  std::size_t columns(const ladon::Shape& shape) const;  // of pairs and values
};

std::vector<Variation> variations(const Subject& subject);

// Data for everything that the subject's mask and score take, as random as can be.
void fill_at_random(const Subject& subject, Variation& variation, std::uint64_t seed);

// The bits of a mask [queries][ceil(keys / 32)] from its bytes; what lies beyond the keys is set, and means nothing.
std::vector<std::uint32_t> to_bits(const ladon::Shape& shape, const std::vector<std::uint8_t>& pairs);

// The mask's definition, active lengths included, for what is the same in every head.
oracle::MaySee mask_of(const Subject& subject, const Variation& variation);

// The heads with all that makes their scores; -inf among what is added hides a pair, in one head or in all.
oracle::Heads heads_of(const Subject& subject, const Variation& variation);

// Whether a head lets a query see a key.
using Seen = std::function<bool(std::size_t head, std::size_t query, std::size_t key)>;
Seen seen_of(const Subject& subject, const Variation& variation);

// Whether one of the first `queries` queries may see this key.
bool seen_by_any(const oracle::MaySee& may_see, std::size_t queries, std::size_t key);
bool seen_by_any(const Seen& seen, const ladon::Shape& shape, std::size_t queries, std::size_t key);

// NaN and infinity among the values of pairs that are hidden by another part of the mask.
void spoil_hidden_values(const Subject& subject, Variation& variation);

// Overwrites rows [tokens][width] that must not matter: by NaN and infinities in turn.
void spoil_row(std::vector<float>& rows, std::size_t row, std::size_t width);

std::string to_string(const Subject& subject, const Variation& variation);

}  // namespace ladon_test
