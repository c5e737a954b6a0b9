// SPDX-License-Identifier: Apache-2.0
// Detects the instruction sets of this machine, and chooses one of them. A variant of a kernel is compiled for a level
// of the architecture, such as x86-64-v3. The compiler may use every extension of the level, so the machine must
// support every extension of the level.
#pragma once

#if defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#else
#include <cpuid.h>
#endif

namespace c_kernel {

// Returns a word in which the bits with the given numbers are 1 and all other bits are 0. A word can represent
// instruction sets: bit i then stands for the instruction set with the number i in ladon_isa.
template <class... Bit>
constexpr unsigned bits(Bit... bit) {
  return ((1u << bit) | ...);
}

// A bit of detected_isas() beside the instruction sets: this machine multiplies bfloat16 numbers more slowly than
// floats.
constexpr unsigned slow_bfloat16 = bits(31);

#if defined(__aarch64__) && defined(__APPLE__)
static bool has_feature(const char* name) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}

// Returns the instruction sets that the machine supports, as macOS 12 and iOS 15 report them. Earlier systems report
// only NEON. The compiler may also use the instructions of Armv8.1-A, as on Linux.
static unsigned detected_isas() {
  unsigned found = bits(LADON_ISA_NEON);
  if (!has_feature("hw.optional.arm.FEAT_RDM") || !has_feature("hw.optional.arm.FEAT_LSE") ||
      !has_feature("hw.optional.armv8_crc32")) {
    return found;
  }
  if (has_feature("hw.optional.arm.FEAT_BF16")) found |= bits(LADON_ISA_NEON_BF16);
  if (!has_feature("hw.optional.arm.FEAT_DotProd")) return found;
  found |= bits(LADON_ISA_NEON_DOT);
  if (has_feature("hw.optional.arm.FEAT_I8MM")) found |= bits(LADON_ISA_NEON_I8MM);
  return found;
}
#elif defined(__aarch64__)
// Returns the instruction sets that the machine supports, as Linux reports them. Code for SDOT, SMMLA and BFDOT is
// compiled for Armv8.2-A, so the compiler may also use the atomic instructions, CRC32 and SQRDMLAH of Armv8.1-A. On a
// machine without these instructions, the result is only NEON.
static unsigned detected_isas() {
  constexpr unsigned long armv8_1 = HWCAP_ASIMDRDM | HWCAP_ATOMICS | HWCAP_CRC32;
  // The bits HWCAP2_I8MM and HWCAP2_BF16. The names are missing in the headers of Linux before version 5.6.
  constexpr unsigned long i8mm = 1ul << 13, bfloat16 = 1ul << 14;
  unsigned found = bits(LADON_ISA_NEON);
  const unsigned long capabilities = getauxval(AT_HWCAP);
  if ((capabilities & armv8_1) != armv8_1) return found;
  const unsigned long more_capabilities = getauxval(AT_HWCAP2);
  if ((more_capabilities & bfloat16) != 0) found |= bits(LADON_ISA_NEON_BF16);
  if ((capabilities & HWCAP_ASIMDDP) == 0) return found;
  found |= bits(LADON_ISA_NEON_DOT);
  if ((more_capabilities & i8mm) != 0) found |= bits(LADON_ISA_NEON_I8MM);
  return found;
}
#else
// Returns whether `reg` has a 1 at every position at which `bits` has a 1.
static bool has(unsigned reg, unsigned long long bits) { return (reg & bits) == bits; }

// Since Sapphire Rapids, Intel has AMX for bfloat16 numbers, and vdpbf16ps takes four times as long as an FMA. A
// hypervisor may hide AMX, and kernels use AMX only on Linux. ladon_slow_bfloat16 in cmake/arch_flags.cmake has the
// same rule. Figures: bench/tuning-log.md, "bfloat16 on Intel without AMX".
static bool has_slow_bfloat16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned genu = 0x756e6547;  // the first letters of GenuineIntel
  if (__get_cpuid(0, &a, &b, &c, &d) == 0 || b != genu) return false;
  // Leaf 7 of cpuid reports AMX-BF16, AVX512_FP16, AMX-TILE and AMX-INT8. Sapphire Rapids was the first with
  // AVX512_FP16.
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || !has(d, bits(23))) return false;
#if defined(__linux__)
  return !has(d, bits(22, 24, 25));
#else
  return true;
#endif
}

// Returns the instruction sets that the machine and the operating system support. AVX2 code is compiled for the level
// x86-64-v3, and AVX-512 code for the level x86-64-v4 (System V ABI, AMD64 supplement, "Micro-architecture levels"). So
// the function checks every extension of these levels, and whether the operating system saves the registers that the
// extensions use. AVX512_VNNI, AVX512_BF16 and AVX-VNNI belong to no level and are checked separately. Code for
// AVX512_BF16 also uses AVX512_VNNI. The arguments of cpuid are a leaf and a subleaf.
static unsigned detected_isas() {
  const unsigned sse2 = bits(LADON_ISA_SSE2);
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Leaf 1 of cpuid reports SSE3, SSSE3, FMA, CMPXCHG16B, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX and F16C.
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has(c, bits(0, 9, 12, 13, 19, 20, 22, 23, 27, 28, 29))) return sse2;
  unsigned saved = 0, saved_high = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
  // The operating system must save the SSE registers (bit 1) and the AVX registers (bit 2).
  if (!has(saved, bits(1, 2))) return sse2;
  // Leaf 0x80000001 of cpuid reports LAHF and LZCNT.
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || !has(c, bits(0, 5))) return sse2;
  // Leaf 7 of cpuid reports BMI1, AVX2 and BMI2.
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || !has(b, bits(3, 5, 8))) return sse2;
  unsigned found = sse2 | bits(LADON_ISA_AVX2);
  // AVX-512 needs the extensions AVX512F, DQ, CD, BW and VL. The operating system must save the opmask registers, the
  // upper halves of the registers zmm0 to zmm15, and the registers zmm16 to zmm31.
  if (has(b, bits(16, 17, 28, 30, 31)) && has(saved, bits(5, 6, 7))) {
    found |= bits(LADON_ISA_AVX512);
    if (has(c, bits(11))) found |= bits(LADON_ISA_AVX512_VNNI);
  }
  // In leaf 7 of cpuid, `a` is the number of the last subleaf. Subleaf 1 reports AVX-VNNI in bit 4, and AVX512_BF16 in
  // bit 5.
  if (a < 1 || __get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return found;
  if (has(a, bits(4))) found |= bits(LADON_ISA_AVX_VNNI);
  if (has(found, bits(LADON_ISA_AVX512_VNNI)) && has(a, bits(5))) found |= bits(LADON_ISA_AVX512_BF16);
  if (has_slow_bfloat16()) found |= slow_bfloat16;
  return found;
}
#endif

// Returns the result of detected_isas(). The result is stored in `known`, because cpuid takes about a microsecond under
// a hypervisor. `known` is the only writable variable that DISPATCH adds to a library. Several threads may make the
// first call at the same time, because all threads store the same value.
static unsigned supported_isas() {
  static unsigned known = 0;
  unsigned isas = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (isas == 0) {
    isas = detected_isas();
    __atomic_store_n(&known, isas, __ATOMIC_RELAXED);
  }
  return isas;
}

// Returns one of the instruction sets in `available`, or LADON_ISA_CHOSEN if none fits:
//     wanted                                     result
//     LADON_ISA_CHOSEN                           the first instruction set in `fastest_first` that is available
//     an instruction set that is available       `wanted`
//     an instruction set that is not available   LADON_ISA_CHOSEN
// With slow_bfloat16, LADON_ISA_CHOSEN never gives LADON_ISA_AVX512_BF16.
constexpr ladon_isa chosen_isa(int wanted, unsigned available) {
  constexpr ladon_isa fastest_first[] = {
      LADON_ISA_AVX512_BF16, LADON_ISA_AVX512_VNNI, LADON_ISA_AVX512,   LADON_ISA_AVX_VNNI,  LADON_ISA_AVX2,
      LADON_ISA_SSE2,        LADON_ISA_NEON_I8MM,   LADON_ISA_NEON_DOT, LADON_ISA_NEON_BF16, LADON_ISA_NEON};
  if (wanted == LADON_ISA_CHOSEN && (available & slow_bfloat16) != 0) available &= ~bits(LADON_ISA_AVX512_BF16);
  for (const ladon_isa isa : fastest_first) {
    if ((wanted == LADON_ISA_CHOSEN || wanted == isa) && (available & bits(isa)) != 0) return isa;
  }
  return LADON_ISA_CHOSEN;
}

// Returns the instruction set of the kernel variant that the caller must call, or LADON_ISA_CHOSEN if no variant fits
// `wanted`. `built` is the set of instruction sets for which the library has a variant: bit i stands for number i in
// ladon_isa.
static ladon_isa usable(int wanted, unsigned built) {
  return chosen_isa(wanted, supported_isas() & (built | slow_bfloat16));
}

}  // namespace c_kernel
