// Detects the instruction sets of this x86-64 machine. AVX2 code is compiled for the level x86-64-v3, and AVX-512 code
// for the level x86-64-v4. A compiler may use every extension of the level, so the machine must support all extensions
// of the level (System V ABI, AMD64 supplement, "Micro-architecture levels"). In addition, the operating system must
// save the registers that the extensions use.
#pragma once

#include <cpuid.h>

namespace c_kernel {

// Returns whether `reg` has a 1 at every position at which `bits` has a 1.
static bool has(unsigned reg, unsigned long long bits) { return (reg & bits) == bits; }

// Returns a word whose bits with the given numbers are 1. All other bits are 0.
template <class... Bit>
constexpr unsigned bits(Bit... bit) {
  return ((1u << bit) | ...);
}

// Returns the widest instruction set that the machine and the operating system support.
static ladon_isa widest_isa() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  // These bits stand for SSE3, SSSE3, FMA, CMPXCHG16B, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX and F16C.
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has(c, bits(0, 9, 12, 13, 19, 20, 22, 23, 27, 28, 29))) {
    return LADON_ISA_SSE2;
  }
  unsigned saved = 0, saved_high = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
  // The operating system must save the SSE registers (bit 1) and the AVX registers (bit 2).
  if (!has(saved, bits(1, 2))) return LADON_ISA_SSE2;
  // These bits stand for LAHF and LZCNT.
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || !has(c, bits(0, 5))) return LADON_ISA_SSE2;
  // These bits stand for BMI1, AVX2 and BMI2.
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || !has(b, bits(3, 5, 8))) return LADON_ISA_SSE2;
  // AVX-512 needs the extensions AVX512F, DQ, CD, BW and VL. The operating system must save the opmask registers, the
  // upper halves of the registers zmm0 to zmm15, and the registers zmm16 to zmm31.
  const bool avx512 = has(b, bits(16, 17, 28, 30, 31)) && has(saved, bits(5, 6, 7));
  return avx512 ? LADON_ISA_AVX512 : LADON_ISA_AVX2;
}

// Returns the result of widest_isa(). The result is stored in `known`, because cpuid takes about a microsecond under a
// hypervisor. `known` is the only writable variable that DISPATCH adds to a library. Several threads may make the first
// call at the same time, because all threads store the same value.
static ladon_isa chosen_isa() {
  static int known = 0;
  int isa = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (isa == 0) {
    isa = widest_isa();
    __atomic_store_n(&known, isa, __ATOMIC_RELAXED);
  }
  return static_cast<ladon_isa>(isa);
}

// Returns the instruction set whose code the caller must call:
//
//     argument `wanted`                                result
//     LADON_ISA_CHOSEN                                 the widest instruction set of this machine
//     an instruction set that the machine supports     `wanted`
//     any other value                                  LADON_ISA_CHOSEN, which here means "not supported"
static ladon_isa usable(int wanted) {
  const ladon_isa widest = chosen_isa();
  if (wanted == LADON_ISA_CHOSEN) return widest;
  return wanted > LADON_ISA_CHOSEN && wanted <= widest ? static_cast<ladon_isa>(wanted) : LADON_ISA_CHOSEN;
}

}  // namespace c_kernel
