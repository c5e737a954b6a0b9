// SPDX-License-Identifier: Apache-2.0
// Includes the file of this folder for the instruction set that the translation unit is compiled for. The included file
// defines these names:
//     target::Current   the constants of the instruction set
//     LADON_KERNEL      the attribute of kernels: LADON_NOINLINE (each kernel is a separate function), or empty
//     LADON_SMALL       only in some code for size (cortex_m.hpp and helium.hpp)
//     further macros    only if the defaults in detail/build/compiler.hpp do not suit the target (wasm.hpp and
//                       cortex_m.hpp)
#pragma once

#include <ladon/detail/target/defaults.hpp>
#include <ladon/detail/target/plain_arrays.hpp>
#include <ladon/detail/target/x86.hpp>

// WebAssembly is tested first, because Emscripten can also define the macros of SSE.
#if defined(__wasm__)
#include <ladon/detail/target/wasm.hpp>
#elif defined(__AVX512F__)
#include <ladon/detail/target/avx512.hpp>
#elif defined(__AVX__)
#include <ladon/detail/target/avx2.hpp>
#elif defined(__SSE2__) || defined(_M_X64)
#include <ladon/detail/target/sse2.hpp>
#elif defined(__aarch64__) || defined(__ARM_NEON)
#include <ladon/detail/target/neon.hpp>
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#include <ladon/detail/target/helium.hpp>
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#include <ladon/detail/target/cortex_m.hpp>
#else
#include <ladon/detail/target/other.hpp>
#endif
