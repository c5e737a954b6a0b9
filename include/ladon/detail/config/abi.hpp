// SPDX-License-Identifier: Apache-2.0
// LADON_ABI, the name of the inline namespace around all of Ladon. It contains every setting that changes the code.
// With equal names, the linker would keep one of two different functions, and an SSE2 machine could run AVX-512.
#pragma once

#include <ladon/detail/config/isa.hpp>
#include <ladon/detail/config/settings.hpp>

#if !defined(LADON_ABI)
#define LADON_JOIN_AS_WRITTEN(a, b) a##b
#define LADON_JOIN(a, b) LADON_JOIN_AS_WRITTEN(a, b)

#if defined(LADON_ARRAY_LANES)
#define LADON_ABI_LANES LADON_JOIN(_array_, LADON_ARRAY_LANES)
#else
#define LADON_ABI_LANES
#endif
#if LADON_DETERMINISTIC
#define LADON_ABI_BITS _deterministic
#elif LADON_KEY_BLOCK != 256
#define LADON_ABI_BITS LADON_JOIN(_block_, LADON_KEY_BLOCK)
#else
#define LADON_ABI_BITS
#endif
#if LADON_CONSTANT_EVALUATION
#define LADON_ABI_EVALUATION
#else
#define LADON_ABI_EVALUATION _run_time
#endif
#if LADON_CHECKED
#define LADON_ABI_CHECKS _checked
#else
#define LADON_ABI_CHECKS
#endif
#define LADON_ABI_EXTENSIONS LADON_JOIN(LADON_ISA_FMA, LADON_JOIN(LADON_ISA_INT8, LADON_ISA_BFLOAT16))
#define LADON_ABI_TARGET LADON_JOIN(LADON_JOIN(LADON_ISA, LADON_ABI_EXTENSIONS), LADON_ABI_LANES)
#define LADON_ABI_SETTINGS LADON_JOIN(LADON_ABI_BITS, LADON_JOIN(LADON_ABI_EVALUATION, LADON_ABI_CHECKS))
#define LADON_ABI LADON_JOIN(LADON_ABI_TARGET, LADON_ABI_SETTINGS)
#endif

// `namespace LADON_NAMESPACE::detail {`. The macro hides `inline`, because tag tools do not see the definitions of a
// nested namespace with `inline` in its name.
#define LADON_NAMESPACE ladon::inline LADON_ABI
