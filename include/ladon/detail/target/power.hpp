// SPDX-License-Identifier: Apache-2.0
// Constants for POWER with VSX, which has 64 registers of 4 floats.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

namespace LADON_NAMESPACE::detail::target {

struct Power : PlainArrays<4> {
  static constexpr std::size_t registers = 64;
  static constexpr auto panel_layout = one_or_two_packs<24>;
};
using Current = Power;

}  // namespace LADON_NAMESPACE::detail::target
