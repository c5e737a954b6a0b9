// The inline namespace that everything lives in: LADON_ABI, named for all that makes the code of one translation unit
// differ from the code of another. Were the names the same, the linker would keep one of two functions: one for AVX-512
// would run on an SSE2 machine, and one without checks in a checked build.
#pragma once

// Preconditions are checked (expects.hpp) where LADON_CHECKED is 1; said to be neither, where asserts are.
#if !defined(LADON_CHECKED)
#if defined(NDEBUG)
#define LADON_CHECKED 0
#else
#define LADON_CHECKED 1
#endif
#endif

#if !defined(LADON_ABI)
#if defined(__AVX512F__)
#define LADON_ISA avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define LADON_ISA avx2_fma
#elif defined(__AVX__)
#define LADON_ISA avx
#elif defined(__SSE4_1__)
#define LADON_ISA sse4
#elif defined(__SSE2__)
#define LADON_ISA sse2
#elif defined(__aarch64__)
#define LADON_ISA neon64
#elif defined(__ARM_NEON)
#define LADON_ISA neon
#elif defined(__wasm_relaxed_simd__)
#define LADON_ISA wasm_relaxed
#elif defined(__wasm_simd128__)
#define LADON_ISA wasm_simd
#else
#define LADON_ISA scalar
#endif

#define LADON_JOIN_AS_WRITTEN(a, b) a##b
#define LADON_JOIN(a, b) LADON_JOIN_AS_WRITTEN(a, b)
#if defined(LADON_ARRAY_LANES)
#define LADON_ABI_LANES LADON_JOIN(_array_, LADON_ARRAY_LANES)
#else
#define LADON_ABI_LANES
#endif
#if LADON_CHECKED
#define LADON_ABI_CHECKED _checked
#else
#define LADON_ABI_CHECKED
#endif
#define LADON_ABI LADON_JOIN(LADON_JOIN(LADON_ISA, LADON_ABI_LANES), LADON_ABI_CHECKED)
#endif
