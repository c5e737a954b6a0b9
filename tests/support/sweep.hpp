// A sweep tests many shapes with one mask. In the wide test set, every mask is tested with each of the following sizes.
// The numbers of queries and keys are 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64 and 100. The head widths are 1, 3, 4, 8,
// 20, 32, 64 and 80. Each shape combines different lengths, widths, numbers of heads and sizes of groups, so that few
// shapes cover many combinations. In the usual test set, every length and every width is tested with at least one mask.
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
