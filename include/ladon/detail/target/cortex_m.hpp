// Cortex-M without Helium: M0+, M4, M7, M33. They compute with plain floats, one lane (plain.hpp has the tile). There
// are no caches to speak of and no vector registers.
#pragma once

#include <ladon/detail/target/defaults.hpp>

// -Os keeps loops rolled where the tile's loop is in assembly, or where every multiplication is a call. Elsewhere
// rolled loops would be 20 times as slow for half the code.
#if defined(__OPTIMIZE_SIZE__) && (!defined(__ARM_FP) || (defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC))
#define LADON_SMALL
// The compiler chooses what to inline.
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

namespace ladon::inline LADON_ABI::detail::target {

struct CortexM : Defaults {};
using Current = CortexM;

}  // namespace ladon::inline LADON_ABI::detail::target
