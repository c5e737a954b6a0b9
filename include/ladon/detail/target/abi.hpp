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

// With LADON_DETERMINISTIC=1 a translation unit computes the same bits on every target: multiply and add are rounded
// one by one, and all sums run in one order, those of a few queries, too. It needs the arithmetic of IEEE 754 as it is:
// no contraction (-ffp-contract=off), nothing wider than float in between, and subnormals.
#if !defined(LADON_DETERMINISTIC)
#define LADON_DETERMINISTIC 0
#endif
#if LADON_DETERMINISTIC && defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error \
    "ladon: LADON_DETERMINISTIC needs sums that are rounded to float at once; on 32-bit x86 compile with -mfpmath=sse"
#endif

// Keys of a long row that are scored, made into probabilities and used up before the next ones. Fewer take less of a
// workspace, 4 bytes a key and token of a panel; where a row has more, its sums end elsewhere, and so its last bits are
// others.
#if !defined(LADON_KEY_BLOCK)
#define LADON_KEY_BLOCK 256
#endif
#if LADON_DETERMINISTIC && LADON_KEY_BLOCK != 256
#error "ladon: LADON_DETERMINISTIC sums in blocks of 256 keys on every target; leave LADON_KEY_BLOCK as it is"
#endif

#if !defined(LADON_ABI)
#define LADON_JOIN_AS_WRITTEN(a, b) a##b
#define LADON_JOIN(a, b) LADON_JOIN_AS_WRITTEN(a, b)

// The instruction set, as far as these sources and xsimd ask for it. (Emscripten's SSE is a manner of speaking.)
#if defined(__wasm_relaxed_simd__)
#define LADON_ISA wasm_relaxed
#elif defined(__wasm_simd128__)
#define LADON_ISA wasm_simd
#elif defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512CD__)
#define LADON_ISA avx512
#elif defined(__AVX512F__)
#define LADON_ISA avx512f
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
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define LADON_ISA helium
#elif defined(__ARM_FP)
#define LADON_ISA vfp
#elif defined(__riscv_flen)
#define LADON_ISA riscv_f
#else
#define LADON_ISA scalar
#endif
// Not implied by AVX, AVX2, AVX-512F or NEON.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define LADON_ABI_FMA _fma
#else
#define LADON_ABI_FMA
#endif

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
#if LADON_CHECKED
#define LADON_ABI_CHECKS _checked
#else
#define LADON_ABI_CHECKS
#endif
#define LADON_ABI_TARGET LADON_JOIN(LADON_JOIN(LADON_ISA, LADON_ABI_FMA), LADON_ABI_LANES)
#define LADON_ABI LADON_JOIN(LADON_ABI_TARGET, LADON_JOIN(LADON_ABI_BITS, LADON_ABI_CHECKS))
#endif
