// Sweeps: many shapes under one mask. Few shapes cover many pairs of sizes. In the wide set, every mask meets every
// count of queries and keys in {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100} and every head width in {1, 3, 4, 8, 20,
// 32, 64, 80}. Counts and widths, counts and counts, heads and groups meet as often as possible. In the usual set,
// every count and every width meets one of the masks.
#pragma once

#include "attention_check.hpp"
#include "attention_subject.hpp"

namespace ladon_test {

using S = ladon::Shape;

template <class Mask, ladon::Shape... Shapes>
void sweep() {
  (check_attention(attention_subject<Shapes, Mask>()), ...);
}

}  // namespace ladon_test
