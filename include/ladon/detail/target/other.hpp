// SPDX-License-Identifier: Apache-2.0
// Constants for all other processors, such as RISC-V. A pack is an array of one float, and plain_arrays.hpp chooses the
// tile. Most constants were not measured on these processors.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

#define LADON_KERNEL LADON_NOINLINE

namespace LADON_NAMESPACE::detail::target {

struct Other : Defaults {
  static constexpr std::size_t widened_features = widened_features_on_small_stack;
  // With more than 8 sums in a tile, g++ 12 spills sums on RISC-V.
  static constexpr std::size_t int8_tile_sums = 8;
};
using Current = Other;

}  // namespace LADON_NAMESPACE::detail::target
