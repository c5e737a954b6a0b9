// SPDX-License-Identifier: Apache-2.0
// The settings of a build, the instruction set, and LADON_ABI, which names both.
#pragma once

// An #error does not end the compilation, but a missing header does.
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

// 1: results are bit-identical on all targets. Products are rounded before additions, and sums have one order. The
// target must not widen results or flush subnormals, and the compiler must not fuse operations (vec::unfused).
#if !defined(LADON_DETERMINISTIC)
#define LADON_DETERMINISTIC 0
#endif

// Rejects flags that change float arithmetic: a masked score is -inf, and x + 1.5 * 2^23 - 1.5 * 2^23 must round x to
// an integer, which needs this order and sums of type float. vec::in_order handles pragmas, and flags that define
// no macro.
#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error \
    "ladon: compile without -ffast-math (-Ofast, /fp:fast); a masked score is -inf, and the flag assumes that there is none"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "ladon: compile without -ffinite-math-only; a masked score is -inf, and the flag assumes that there is none"
#elif defined(__ASSOCIATIVE_MATH__)
#error \
    "ladon: compile without -fassociative-math (-funsafe-math-optimizations, -ffast-math); it changes the order of sums that round"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "ladon: each sum must be rounded to float; on 32-bit x86 compile with -msse2 -mfpmath=sse"
#endif

// g++ 14 and 15 fuse products and sums in vectors of RISC-V, even with -ffp-contract=off and vec::unfused.
#if LADON_DETERMINISTIC && defined(__riscv_vector) && defined(__GNUC__) && !defined(__clang__) && \
    (__GNUC__ == 14 || __GNUC__ == 15)
#error \
    "ladon: g++ 14 and 15 break LADON_DETERMINISTIC with RISC-V V: compile with clang++ 19 or g++ 16, or without v in -march"
#endif

// How many keys a block of attention has. The workspace holds a block's scores. If a call has more keys, the last bits
// of its results depend on this number.
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

// A program may define the settings above before it includes Ladon. The macros below are 1 or 0.

// Whether the compiler has __builtin_shufflevector. Without it, shuffles go through memory (detail/vec/xsimd.hpp).
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define LADON_HAS_SHUFFLE 1
#else
#define LADON_HAS_SHUFFLE 0
#endif

// MSVC has a macro for SSE2 in 32-bit programs only, and none for SSE4.1 and FMA. There, x86-64 implies SSE2, AVX
// implies SSE4.1, and AVX2 implies FMA.
#if defined(__SSE2__) || defined(_M_X64) || (defined(_M_IX86_FP) && _M_IX86_FP >= 2)
#define LADON_SSE2 1
#else
#define LADON_SSE2 0
#endif
#if defined(__SSE4_1__) || defined(__AVX__)
#define LADON_SSE4_1 1
#else
#define LADON_SSE4_1 0
#endif
#if defined(__FMA__) || (defined(_MSC_VER) && !defined(__clang__) && defined(__AVX2__))
#define LADON_FMA 1
#else
#define LADON_FMA 0
#endif

// AVX-512 of servers since Skylake.
#if defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512CD__)
#define LADON_AVX512 1
#else
#define LADON_AVX512 0
#endif

// vpdpbusd of int8 products (detail/vec/dot_x86.hpp). Ladon does not mix AVX-512 and AVX-VNNI.
#if (LADON_AVX512 && defined(__AVX512VNNI__)) || (defined(__AVXVNNI__) && defined(__AVX2__) && !defined(__AVX512F__))
#define LADON_VNNI 1
#else
#define LADON_VNNI 0
#endif

// vdpbf16ps (detail/vec/dot.hpp).
#if LADON_AVX512 && defined(__AVX512BF16__)
#define LADON_BFLOAT16_DOT 1
#else
#define LADON_BFLOAT16_DOT 0
#endif

// AMX (detail/vec/matrix_unit.hpp). Code for VNNI or bfloat16 asks the processor and the system whether they support
// AMX.
#if LADON_AVX512 && (LADON_VNNI || LADON_BFLOAT16_DOT) && defined(__linux__) && defined(__x86_64__) && defined(__LP64__)
#define LADON_AMX 1
#else
#define LADON_AMX 0
#endif

// SDOT of int8 products (detail/vec/dot_arm64.hpp). g++ 12 has the intrinsics of SDOT and bfloat16 only from Armv8.2
// on, but defines their macros for Armv8.0 and 8.1, too. The macro of atomic instructions (Armv8.1) excludes Armv8.0.
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD) && defined(__ARM_FEATURE_ATOMICS)
#define LADON_ARM_DOT 1
#else
#define LADON_ARM_DOT 0
#endif

#if LADON_ARM_DOT && defined(__ARM_FEATURE_MATMUL_INT8)
#define LADON_ARM_I8MM 1
#else
#define LADON_ARM_I8MM 0
#endif

// BFDOT and BFMMLA (detail/vec/dot.hpp).
#if defined(__aarch64__) && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) && defined(__ARM_FEATURE_ATOMICS)
#define LADON_ARM_BFLOAT16_DOT 1
#else
#define LADON_ARM_BFLOAT16_DOT 0
#endif

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define LADON_CORTEX_M 1
#else
#define LADON_CORTEX_M 0
#endif

#if LADON_CORTEX_M && defined(__ARM_FP) && (__ARM_FP & 4)
#define LADON_CORTEX_M_FPU 1
#else
#define LADON_CORTEX_M_FPU 0
#endif

// SMLAD of Cortex-M4, M7, M33 and M55 (detail/cortex_m/one_lane.hpp), with unaligned loads of weights.
#if LADON_CORTEX_M && defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32) && \
    defined(__ARM_FEATURE_UNALIGNED) && !defined(__ARM_BIG_ENDIAN)
#define LADON_DSP 1
#else
#define LADON_DSP 0
#endif

// Only Thumb-1 instructions and no FPU, as on Cortex-M0+ (detail/cortex_m/m0.hpp).
#if LADON_CORTEX_M && __ARM_ARCH_ISA_THUMB == 1 && !defined(__ARM_FP) && !defined(__ARM_BIG_ENDIAN)
#define LADON_THUMB1 1
#else
#define LADON_THUMB1 0
#endif

// Helium (MVE) with floats.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define LADON_HELIUM 1
#else
#define LADON_HELIUM 0
#endif

// The name of the instruction set. Sets for which Ladon or xsimd compiles different code have different names.
// WebAssembly is tested first, because Emscripten can define the macros of SSE.
#if defined(__wasm_relaxed_simd__)
#define LADON_ISA wasm_relaxed
#elif defined(__wasm_simd128__)
#define LADON_ISA wasm_simd
#elif LADON_VNNI && defined(__AVX512F__)
#define LADON_ISA avx512_vnni
#elif LADON_AVX512
#define LADON_ISA avx512
#elif defined(__AVX512BW__)
#define LADON_ISA avx512bw
#elif defined(__AVX512F__)
#define LADON_ISA avx512f
#elif LADON_VNNI
#define LADON_ISA avx_vnni
#elif defined(__AVX2__)
#define LADON_ISA avx2
#elif defined(__AVX__)
#define LADON_ISA avx
#elif defined(__SSE4_2__)
#define LADON_ISA sse4_2
#elif defined(__SSE4_1__)
#define LADON_ISA sse4_1
#elif defined(__SSSE3__)
#define LADON_ISA ssse3
#elif defined(__SSE3__)
#define LADON_ISA sse3
#elif LADON_SSE2
#define LADON_ISA sse2
#elif defined(__ARM_FEATURE_SVE)
#define LADON_ISA sve
#elif defined(__aarch64__)
#define LADON_ISA neon64
#elif defined(__ARM_NEON)
#define LADON_ISA neon
#elif LADON_HELIUM
#define LADON_ISA helium
#elif defined(__ARM_FP) && LADON_DSP
#define LADON_ISA vfp_dsp
#elif defined(__ARM_FP)
#define LADON_ISA vfp
#elif LADON_DSP
#define LADON_ISA dsp
#elif defined(__riscv_vector)
#define LADON_ISA riscv_v
#elif defined(__riscv_flen)
#define LADON_ISA riscv_f
#elif defined(__VSX__)
#define LADON_ISA vsx
#else
#define LADON_ISA scalar
#endif

// Extensions that LADON_ISA does not name.
#if LADON_FMA || defined(__ARM_FEATURE_FMA)
#define LADON_ISA_FMA _fma
#else
#define LADON_ISA_FMA
#endif
#if LADON_ARM_I8MM
#define LADON_ISA_INT8 _i8mm
#elif LADON_ARM_DOT
#define LADON_ISA_INT8 _dot
#else
#define LADON_ISA_INT8
#endif
#if LADON_BFLOAT16_DOT || LADON_ARM_BFLOAT16_DOT
#define LADON_ISA_BFLOAT16 _bf16
#else
#define LADON_ISA_BFLOAT16
#endif

// LADON_ABI is the name of the inline namespace around all of Ladon. The name contains every setting that changes the
// code. Otherwise, the linker would keep one of two functions with equal names, and an SSE2 machine could run AVX-512.
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

// Headers write `namespace LADON_NAMESPACE::detail {`. If `inline` stood in that line and not in the macro, tools that
// list symbols would overlook the definitions in the namespace.
#define LADON_NAMESPACE ladon::inline LADON_ABI
