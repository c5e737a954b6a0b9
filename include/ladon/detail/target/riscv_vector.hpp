// SPDX-License-Identifier: Apache-2.0
// Constants for the vectors of RISC-V: 32 registers of 128 bits or more.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

namespace LADON_NAMESPACE::detail::target {

struct RiscvVector : PlainArrays<16> {
  static constexpr std::size_t registers = 32;
  static constexpr auto panel_layout = one_or_two_packs<6>;
  static constexpr std::size_t int8_tile_sums = 8;  // int8 packs have one lane. g++ 12 spills more than 8 sums
};
using Current = RiscvVector;

}  // namespace LADON_NAMESPACE::detail::target
