// Which instruction sets this x86-64 machine runs: all of x86-64-v3 and -v4, as compilers use all of what they are told
// is there (System V ABI, AMD64 supplement, "Micro-architecture levels"), and what the operating system saves of them.
#pragma once

#include <cpuid.h>

namespace c_kernel {

static bool has(unsigned reg, unsigned long long bits) { return (reg & bits) == bits; }

template <class... Bit>
constexpr unsigned bits(Bit... bit) {
  return ((1u << bit) | ...);
}

static ladon_isa widest_isa() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  // SSE3, SSSE3, FMA, CMPXCHG16B, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX, F16C
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has(c, bits(0, 9, 12, 13, 19, 20, 22, 23, 27, 28, 29))) {
    return LADON_ISA_SSE2;
  }
  unsigned saved = 0, saved_high = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
  if (!has(saved, bits(1, 2))) return LADON_ISA_SSE2;
  // LAHF, LZCNT
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || !has(c, bits(0, 5))) return LADON_ISA_SSE2;
  // BMI1, AVX2, BMI2
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || !has(b, bits(3, 5, 8))) return LADON_ISA_SSE2;
  // AVX512F, DQ, CD, BW, VL; opmask, upper halves, upper registers
  const bool avx512 = has(b, bits(16, 17, 28, 30, 31)) && has(saved, bits(5, 6, 7));
  return avx512 ? LADON_ISA_AVX512 : LADON_ISA_AVX2;
}

// cpuid takes a microsecond where a hypervisor answers it, so it is asked once: the one word that a library made with
// DISPATCH writes beside what it is given. Threads that ask at once find the same.
static ladon_isa chosen_isa() {
  static int known = 0;
  int isa = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (isa == 0) {
    isa = widest_isa();
    __atomic_store_n(&known, isa, __ATOMIC_RELAXED);
  }
  return static_cast<ladon_isa>(isa);
}

// What to call; LADON_ISA_CHOSEN where the machine lacks what is wanted.
static ladon_isa usable(ladon_isa wanted) {
  const ladon_isa widest = chosen_isa();
  if (wanted == LADON_ISA_CHOSEN) return widest;
  return wanted > LADON_ISA_CHOSEN && wanted <= widest ? wanted : LADON_ISA_CHOSEN;
}

}  // namespace c_kernel
