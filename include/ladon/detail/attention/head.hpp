// What a panel of queries attends to.
#pragma once

#include <cstddef>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail {

// Keys and values of one head, in panels: what its queries attend to.
struct Head {
  const float* keys;
  const float* values;
  bool values_finite;
  std::size_t index;  // of the query head
  float sink;         // as an exponent of two; read only where the score has sinks
};

}  // namespace ladon::inline LADON_ABI::detail
