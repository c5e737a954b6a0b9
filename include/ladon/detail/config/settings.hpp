// SPDX-License-Identifier: Apache-2.0
// The settings of a build. A program may define them before it includes Ladon.
#pragma once

// A missing header ends the compilation, but an #error does not.
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "ladon: Ladon needs C++20: compile with -std=c++20, or link the CMake target ladon::ladon"
#include <ladon_needs_std_c++20>
#endif

// 1: preconditions are checked (checks.hpp).
#if !defined(LADON_CHECKED)
#if defined(NDEBUG)
#define LADON_CHECKED 0
#else
#define LADON_CHECKED 1
#endif
#endif

// 1: results are bit-identical on all targets. Products are rounded before additions, and sums have one order. This
// needs -ffp-contract=off, no wider results, and no flushing of subnormals.
#if !defined(LADON_DETERMINISTIC)
#define LADON_DETERMINISTIC 0
#endif
#if LADON_DETERMINISTIC && defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error \
    "ladon: LADON_DETERMINISTIC needs sums that are rounded to float at once; on 32-bit x86 compile with -mfpmath=sse"
#endif

// Keys in a block of attention. The workspace holds the scores of one block and one panel. If there are more keys, last
// bits depend on the block.
#if !defined(LADON_KEY_BLOCK)
#define LADON_KEY_BLOCK 256
#endif
#if LADON_DETERMINISTIC && LADON_KEY_BLOCK != 256
#error "ladon: LADON_DETERMINISTIC sums in blocks of 256 keys on every target; leave LADON_KEY_BLOCK as it is"
#endif

// 0: no attention in constant expressions. With 1, compilers take up to 1.5 times as long.
#if !defined(LADON_CONSTANT_EVALUATION)
#define LADON_CONSTANT_EVALUATION 1
#endif
