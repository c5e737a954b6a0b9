// A Variation holds the part of a call that can change at run time: lengths, offsets, and the data of masks and scores.
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
  std::ptrdiff_t past = bottom_right;  // the position of query 0 for masks without an offset; default: keys - queries

  std::size_t queries(const ladon::Shape& shape) const;  // number of active queries according to `lengths`
  std::size_t keys(const ladon::Shape& shape) const;
  std::size_t columns(const ladon::Shape& shape) const;  // the number of columns of `pairs` and `values`
};

std::vector<Variation> variations(const Subject& subject);

// Writes random data for all parameters of the subject's mask and score (subject.hpp).
void fill_at_random(const Subject& subject, Variation& variation, std::uint64_t seed);

// Converts the bytes of a mask [queries][keys] to bits [queries][ceil(keys / 32)]. The bits beyond the last key are 1.
// The library must ignore these bits.
std::vector<std::uint32_t> to_bits(const ladon::Shape& shape, const std::vector<std::uint8_t>& pairs);

// Returns the mask for the oracle, without the parts that differ between heads. heads_of returns these parts. The mask
// also hides inactive keys.
oracle::MaySee mask_of(const Subject& subject, const Variation& variation);

// Returns the parameters of the heads for the oracle, including the numbers that masks add to scores. The number -inf
// hides a key. A mask adds either a separate number in each head, or one number in all heads.
oracle::Heads heads_of(const Subject& subject, const Variation& variation);

// A function that returns whether a query may see a key in a head.
using Seen = std::function<bool(std::size_t head, std::size_t query, std::size_t key)>;
Seen seen_of(const Subject& subject, const Variation& variation);

// Returns whether any of the first `queries` queries may see the key `key`.
bool seen_by_any(const oracle::MaySee& may_see, std::size_t queries, std::size_t key);
bool seen_by_any(const Seen& seen, const ladon::Shape& shape, std::size_t queries, std::size_t key);

// Writes NaN and infinity to the additive mask, for all pairs of query and key that another part of the mask hides.
void spoil_hidden_values(const Subject& subject, Variation& variation);

// Overwrites one row of `rows` [tokens][width] with NaN, infinity or -infinity, depending on the number of the row.
// Used for rows that must not change any result.
void spoil_row(std::vector<float>& rows, std::size_t row, std::size_t width);

std::string to_string(const Subject& subject, const Variation& variation);

}  // namespace ladon_test
