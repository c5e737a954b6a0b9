// SPDX-License-Identifier: Apache-2.0
// Chooses the target. Each target defines target::Current. A target may define macros (detail/config/compiler.hpp).
#pragma once

#include <ladon/detail/target/defaults.hpp>

// WebAssembly is tested first, because Emscripten can also define the macros of SSE.
#if defined(__wasm__)
#include <ladon/detail/target/wasm.hpp>
#elif LADON_SSE2
#include <ladon/detail/target/x86.hpp>
#elif defined(__aarch64__) || defined(__ARM_NEON)
#include <ladon/detail/target/neon.hpp>
#elif defined(__VSX__)
#include <ladon/detail/target/power.hpp>
#elif defined(__riscv_vector)
#include <ladon/detail/target/riscv_vector.hpp>
#elif LADON_CORTEX_M
#include <ladon/detail/target/cortex_m.hpp>
#else

namespace LADON_NAMESPACE::detail::target {

// All other processors, such as RISC-V without vectors, use arrays of one float.
struct Other : SmallMemory {
  // With more than 8 sums in a tile, g++ 12 spills sums on RISC-V.
  static constexpr std::size_t int8_tile_sums = 8;
};
using Current = Other;

}  // namespace LADON_NAMESPACE::detail::target
#endif
