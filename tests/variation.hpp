// What one instantiation is asked at run time: lengths, offsets of the causal mask, patterns of padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "subject.hpp"

namespace ladon_test {

struct Variation {
  Call given{};                         // tokens, queries, keys, offset as the caller gives them
  std::vector<std::uint8_t> may_see{};  // empty: null
  bool poison_hidden_queries = false;

  std::size_t queries(const ladon::Shape& shape) const;  // as they result
  std::size_t keys(const ladon::Shape& shape) const;
};

std::vector<Variation> variations(const Subject& subject);

// The mask's definition, active lengths included.
oracle::MaySee mask_of(const Subject& subject, const Variation& variation);

// Whether one of the first `queries` queries may see this key.
bool seen_by_any(const oracle::MaySee& may_see, std::size_t queries, std::size_t key);

// Overwrites rows [tokens][width] that must not matter: by NaN and infinities in turn.
void spoil_row(std::vector<float>& rows, std::size_t row, std::size_t width);

std::string to_string(const Subject& subject, const Variation& variation);

}  // namespace ladon_test
