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

  std::size_t queries(const ladon::Shape& shape) const;  // the active queries that follow from `lengths`
  std::size_t keys(const ladon::Shape& shape) const;
  std::size_t columns(const ladon::Shape& shape) const;  // of pairs and values
};

std::vector<Variation> variations(const Subject& subject);

// Writes random data for all parameters of the subject's mask and score.
void fill_at_random(const Subject& subject, Variation& variation, std::uint64_t seed);

// Returns the bits of a mask, [queries][ceil(keys / 32)], from its bytes. The bits beyond the last key are set, and
// must be ignored.
std::vector<std::uint32_t> to_bits(const ladon::Shape& shape, const std::vector<std::uint8_t>& pairs);

// Returns the mask, active lengths included, for all parts that are equal in every head.
oracle::MaySee mask_of(const Subject& subject, const Variation& variation);

// Returns the heads with all parameters of their scores. An addend of -inf hides a pair, in one head or in all heads.
oracle::Heads heads_of(const Subject& subject, const Variation& variation);

// Returns whether a head lets a query see a key.
using Seen = std::function<bool(std::size_t head, std::size_t query, std::size_t key)>;
Seen seen_of(const Subject& subject, const Variation& variation);

// Returns whether any of the first `queries` queries may see this key.
bool seen_by_any(const oracle::MaySee& may_see, std::size_t queries, std::size_t key);
bool seen_by_any(const Seen& seen, const ladon::Shape& shape, std::size_t queries, std::size_t key);

// Writes NaN and infinity to the addends of pairs that another part of the mask hides.
void spoil_hidden_values(const Subject& subject, Variation& variation);

// Overwrites one row of `rows` [tokens][width], which must not matter, with NaN, infinity or -infinity, depending on
// the number of the row.
void spoil_row(std::vector<float>& rows, std::size_t row, std::size_t width);

std::string to_string(const Subject& subject, const Variation& variation);

}  // namespace ladon_test
