// Sweeps: many shapes under one mask. The lists were picked so that few shapes cover many pairs: every mask meets
// every count of queries and keys in {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100} and every head width in
// {1, 3, 4, 8, 20, 32, 64, 80}; counts and widths, counts and counts, heads and groups meet as often as they can.
#pragma once

#include "attention_check.hpp"

namespace ladon_test {

using S = ladon::Shape;

template <class Mask, ladon::Shape... Shapes>
void sweep() {
  (check_attention(attention_subject<Shapes, Mask>()), ...);
}

}  // namespace ladon_test
