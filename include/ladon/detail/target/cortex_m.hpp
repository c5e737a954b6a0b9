// Cortex-M without Helium: M0+, M4, M7, M33. The packs are single floats (plain.hpp chooses the tile). These processors
// have no vector registers and no caches that matter.
#pragma once

#include <ladon/detail/target/defaults.hpp>

// With -Os, loops stay rolled in two cases: the tile's loop is written in assembly, or every multiplication is a call
// of a library function. In all other cases, rolled loops would save half the code but be 20 times as slow.
#if defined(__OPTIMIZE_SIZE__) && (!defined(__ARM_FP) || (defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC))
#define LADON_SMALL
// Kernels are ordinary functions: the compiler decides which to inline.
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

namespace ladon::inline LADON_ABI::detail::target {

struct CortexM : Defaults {};
using Current = CortexM;

}  // namespace ladon::inline LADON_ABI::detail::target
