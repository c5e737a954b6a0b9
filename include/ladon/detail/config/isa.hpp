// SPDX-License-Identifier: Apache-2.0
// The instruction sets that Ladon has code for. Each macro is 1 or 0.
#pragma once

#include <ladon/detail/config/settings.hpp>

// The compiler has __builtin_shufflevector. Without it, shuffles go through memory (detail/vec/shuffle.hpp).
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define LADON_HAS_SHUFFLE 1
#else
#define LADON_HAS_SHUFFLE 0
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

// vdpbf16ps (detail/vec/dot_bfloat16.hpp).
#if LADON_AVX512 && defined(__AVX512BF16__)
#define LADON_BFLOAT16_DOT 1
#else
#define LADON_BFLOAT16_DOT 0
#endif

// SDOT of int8 products (detail/vec/dot_arm64.hpp). Below Armv8.2, g++ 12 lacks the intrinsics of SDOT and bfloat16,
// and atomic instructions tell the two apart.
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD) && defined(__ARM_FEATURE_ATOMICS)
#define LADON_ARM_DOT 1
#else
#define LADON_ARM_DOT 0
#endif

// SMMLA of int8 products.
#if LADON_ARM_DOT && defined(__ARM_FEATURE_MATMUL_INT8)
#define LADON_ARM_I8MM 1
#else
#define LADON_ARM_I8MM 0
#endif

// BFDOT and BFMMLA (detail/vec/dot_bfloat16.hpp).
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

// An FPU of single precision.
#if LADON_CORTEX_M && defined(__ARM_FP) && (__ARM_FP & 4)
#define LADON_CORTEX_M_FPU 1
#else
#define LADON_CORTEX_M_FPU 0
#endif

// SMLAD of Cortex-M4, M7, M33 and M55 (detail/cortex_m/dsp.hpp). Weights are loaded from any address.
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

// The name of the instruction set. Names differ if Ladon or xsimd compiles different code. WebAssembly is tested first,
// because Emscripten can define the macros of SSE.
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
#elif defined(__SSE2__) || defined(_M_X64)
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
#elif defined(__riscv_flen)
#define LADON_ISA riscv_f
#else
#define LADON_ISA scalar
#endif

// Extensions that the name does not imply.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
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
