// SPDX-License-Identifier: Apache-2.0
// Defines the build settings, such as LADON_CHECKED, and macros for the instructions of the target, such as LADON_VNNI.
// Also defines LADON_ABI, the name of the inline namespace around all of Ladon. The name contains every build setting
// that changes the generated code.
//
// Without the namespace LADON_ABI, functions compiled with different settings would have the same name, and the linker
// would keep only one of these functions. An SSE2 machine could then run a function for AVX-512. A checked build could
// call a function without checks.
#pragma once

// Ends the compilation if the language is older than C++20. An #error alone would not end it: g++ and clang++ go on and
// print many more messages. Both compilers stop if an included header is missing. The line after the #error therefore
// includes a header that does not exist. All other headers include abi.hpp before their first declaration.
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "ladon: Ladon needs C++20: compile with -std=c++20, or link the CMake target ladon::ladon"
#include <ladon_needs_std_c++20>
#endif

// With LADON_CHECKED=1, Ladon checks preconditions (checks.hpp). The default is 1 if assert is active, otherwise 0.
#if !defined(LADON_CHECKED)
#if defined(NDEBUG)
#define LADON_CHECKED 0
#else
#define LADON_CHECKED 1
#endif
#endif

// With LADON_DETERMINISTIC=1, results are bit-identical on all targets. Each product is rounded before the addition.
// Sums are added in the same order on all targets and for any number of queries.
//
// LADON_DETERMINISTIC=1 needs plain IEEE 754 arithmetic: no contraction (-ffp-contract=off), no intermediate results
// wider than float, and no flushing of subnormals to zero.
#if !defined(LADON_DETERMINISTIC)
#define LADON_DETERMINISTIC 0
#endif
#if LADON_DETERMINISTIC && defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error \
    "ladon: LADON_DETERMINISTIC needs sums that are rounded to float at once; on 32-bit x86 compile with -mfpmath=sse"
#endif

// LADON_KEY_BLOCK is the number of keys in a block. If there are more keys, attention is computed block by block: first
// the scores of a block, then the attention weights, then the weighted sum of the block's values.
//
// The workspace holds the scores of one block of keys and one panel of queries (detail/panel/panels.hpp), 4 bytes per
// score. A smaller block therefore reduces the workspace. The block size also determines how sums over keys are divided
// into partial sums. If there are more keys than a block has, the last bits of the results therefore depend on the
// block size.
#if !defined(LADON_KEY_BLOCK)
#define LADON_KEY_BLOCK 256
#endif
#if LADON_DETERMINISTIC && LADON_KEY_BLOCK != 256
#error "ladon: LADON_DETERMINISTIC sums in blocks of 256 keys on every target; leave LADON_KEY_BLOCK as it is"
#endif

// With LADON_CONSTANT_EVALUATION=0, attention cannot be computed in a constant expression. Every kernel is then
// compiled once, for the vector registers of the target. Otherwise, every kernel is also compiled for plain arrays, and
// compilers take up to 1.5 times as long. The setting does not change the results at run time.
#if !defined(LADON_CONSTANT_EVALUATION)
#define LADON_CONSTANT_EVALUATION 1
#endif

// LADON_HAS_SHUFFLE is 1 if the compiler has __builtin_shufflevector. Without this builtin, shuffles go through memory
// (detail/vec/shuffle.hpp).
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define LADON_HAS_SHUFFLE 1
#else
#define LADON_HAS_SHUFFLE 0
#endif

// LADON_VNNI is 1 if int8 products use vpdpbusd (detail/vec/dot_vnni.hpp), otherwise 0. AVX512_VNNI has vpdpbusd for
// registers of every width, and AVX-VNNI for registers of 128 and 256 bits. A target with AVX-512 needs AVX512_VNNI:
// with AVX-VNNI only, LADON_VNNI is 0, because Ladon does not mix AVX-512 and AVX-VNNI.
#if defined(__wasm__)
#define LADON_VNNI 0
#elif defined(__AVX512VNNI__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && \
    defined(__AVX512CD__)
#define LADON_VNNI 1
#elif defined(__AVXVNNI__) && defined(__AVX2__) && !defined(__AVX512F__)
#define LADON_VNNI 1
#else
#define LADON_VNNI 0
#endif

// LADON_BFLOAT16_DOT is 1 if products of bfloat16 weights use vdpbf16ps of x86 (detail/vec/dot_bfloat16.hpp),
// otherwise 0.
#if defined(__AVX512BF16__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && \
    defined(__AVX512CD__) && !defined(__wasm__)
#define LADON_BFLOAT16_DOT 1
#else
#define LADON_BFLOAT16_DOT 0
#endif

// LADON_DSP is 1 if int8 products use SMLAD, an instruction of the DSP extension of Cortex-M4, M7, M33 and M55,
// otherwise 0 (detail/cortex_m/dsp.hpp). The kernels load weights at any address, so with
// -mno-unaligned-access the value is 0.
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_DSP) && \
    defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_UNALIGNED) && !defined(__ARM_BIG_ENDIAN)
#define LADON_DSP 1
#else
#define LADON_DSP 0
#endif

// LADON_CORTEX_M_FPU is 1 on a Cortex-M whose FPU computes in single precision, otherwise 0.
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FP) && (__ARM_FP & 4)
#define LADON_CORTEX_M_FPU 1
#else
#define LADON_CORTEX_M_FPU 0
#endif

// LADON_THUMB1 is 1 on a Cortex-M that has only the Thumb-1 instructions and no FPU, such as M0+, otherwise 0. Such a
// core has a separate loop for int8 products (detail/cortex_m/m0.hpp), and computes attention with
// integers if the weights are int8 (detail/cortex_m/m0_attention.hpp).
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && __ARM_ARCH_ISA_THUMB == 1 && !defined(__ARM_FP) && \
    !defined(__ARM_BIG_ENDIAN)
#define LADON_THUMB1 1
#else
#define LADON_THUMB1 0
#endif

// LADON_ARM_DOT is 1 if int8 products use SDOT of 64-bit Arm (detail/vec/dot_arm64.hpp), otherwise 0. With
// -march=armv8-a+dotprod, g++ 12 defines __ARM_FEATURE_DOTPROD, but has no intrinsics for SDOT, so LADON_ARM_DOT must
// be 0. The condition therefore also requires the atomic instructions of Armv8.1, which -march=armv8-a+dotprod does not
// include.
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD) && defined(__ARM_FEATURE_ATOMICS)
#define LADON_ARM_DOT 1
#else
#define LADON_ARM_DOT 0
#endif

// LADON_ARM_I8MM is 1 if int8 products also use SMMLA of the extension I8MM (detail/vec/dot_arm64.hpp), otherwise 0.
#if LADON_ARM_DOT && defined(__ARM_FEATURE_MATMUL_INT8)
#define LADON_ARM_I8MM 1
#else
#define LADON_ARM_I8MM 0
#endif

// LADON_ARM_BFLOAT16_DOT is 1 if products of bfloat16 weights use BFDOT and BFMMLA of 64-bit Arm
// (detail/vec/dot_bfloat16.hpp), otherwise 0. g++ 12 has the intrinsics of bfloat16 only from Armv8.2 on.
// LADON_ARM_BFLOAT16_DOT therefore also requires the atomic instructions of Armv8.1, which -march=armv8-a does not
// include.
#if defined(__aarch64__) && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) && defined(__ARM_FEATURE_ATOMICS)
#define LADON_ARM_BFLOAT16_DOT 1
#else
#define LADON_ARM_BFLOAT16_DOT 0
#endif

#if !defined(LADON_ABI)
#define LADON_JOIN_AS_WRITTEN(a, b) a##b
#define LADON_JOIN(a, b) LADON_JOIN_AS_WRITTEN(a, b)

// LADON_ISA is the name of the instruction set. Two instruction sets have separate names if Ladon or xsimd compiles
// different code for them. WebAssembly is tested first, because Emscripten emulates SSE and can define the macros of
// SSE.
#if defined(__wasm_relaxed_simd__)
#define LADON_ISA wasm_relaxed
#elif defined(__wasm_simd128__)
#define LADON_ISA wasm_simd
#elif LADON_VNNI && defined(__AVX512F__)
#define LADON_ISA avx512_vnni
#elif defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512CD__)
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
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
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
// The suffix _fma is separate from the name of the instruction set, because AVX, AVX2, AVX-512F and NEON do not imply
// FMA instructions.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define LADON_ABI_FMA _fma
#else
#define LADON_ABI_FMA
#endif

// The suffixes _dot, _i8mm and _bf16 are separate from the name of the instruction set. The reason is that a target
// with NEON or SVE may lack SDOT, SMMLA and BFDOT, and a target with AVX-512 or VNNI may lack AVX512_BF16.
#if LADON_ARM_I8MM
#define LADON_ABI_INT8 _i8mm
#elif LADON_ARM_DOT
#define LADON_ABI_INT8 _dot
#else
#define LADON_ABI_INT8
#endif
#if LADON_BFLOAT16_DOT || LADON_ARM_BFLOAT16_DOT
#define LADON_ABI_BFLOAT16 _bf16
#else
#define LADON_ABI_BFLOAT16
#endif
#define LADON_ABI_DOT LADON_JOIN(LADON_ABI_INT8, LADON_ABI_BFLOAT16)

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
#if LADON_CONSTANT_EVALUATION
#define LADON_ABI_EVALUATION
#else
#define LADON_ABI_EVALUATION _run_time
#endif
#define LADON_ABI_TARGET LADON_JOIN(LADON_JOIN(LADON_ISA, LADON_JOIN(LADON_ABI_FMA, LADON_ABI_DOT)), LADON_ABI_LANES)
#define LADON_ABI_CALL LADON_JOIN(LADON_ABI_BITS, LADON_JOIN(LADON_ABI_EVALUATION, LADON_ABI_CHECKS))
#define LADON_ABI LADON_JOIN(LADON_ABI_TARGET, LADON_ABI_CALL)
#endif

// The namespace of all headers: `namespace LADON_NAMESPACE::detail {`. The macro hides `inline`, because tag tools do
// not see the definitions of a nested namespace with `inline` in its name.
#define LADON_NAMESPACE ladon::inline LADON_ABI
