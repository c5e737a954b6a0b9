// Tests masks and scores with many shapes whose sizes are special cases. Examples are one query, one key, several
// panels, and several key blocks (detail/panel/panels.hpp). In some shapes, the number of keys is the number of lanes
// of a vector, or differs from it by one. Most of these tests use attention without projections, because masks affect
// only the scores.
#pragma once

#include "attention_check.hpp"
#include "attention_subject.hpp"

namespace ladon_test {

using S = ladon::Shape;

inline constexpr std::size_t lanes =
    ladon::detail::vec::NativeVectors::lanes < 4 ? 4 : ladon::detail::vec::NativeVectors::lanes;

template <class Mask, ladon::Shape... Shapes>
void sweep_given() {
  (check_given(given_subject<Shapes, Mask>()), ...);
}

}  // namespace ladon_test
