// Tests how DISPATCH chooses an instruction set (src/c_kernel/cpu.hpp). DISPATCH chooses code that this machine can
// run, and rejects a requested instruction set that the machine or the library lacks.
#include <doctest/doctest.h>

#include <initializer_list>

#include "c_int8_layer.h"
#include "cpu.hpp"

namespace ladon_test {

using c_kernel::bits, c_kernel::chosen_isa;

TEST_CASE("dispatch: the fastest instruction set that is available") {
  constexpr unsigned avx2 = bits(LADON_ISA_SSE2, LADON_ISA_AVX2);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, bits(LADON_ISA_SSE2)) == LADON_ISA_SSE2);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2) == LADON_ISA_AVX2);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2 | bits(LADON_ISA_AVX_VNNI)) == LADON_ISA_AVX_VNNI);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2 | bits(LADON_ISA_AVX512)) == LADON_ISA_AVX512);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2 | bits(LADON_ISA_AVX512, LADON_ISA_AVX_VNNI)) == LADON_ISA_AVX512);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2 | bits(LADON_ISA_AVX512, LADON_ISA_AVX512_VNNI, LADON_ISA_AVX_VNNI)) ==
        LADON_ISA_AVX512_VNNI);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2 | bits(LADON_ISA_AVX512, LADON_ISA_AVX512_BF16)) == LADON_ISA_AVX512_BF16);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2 | bits(LADON_ISA_AVX512, LADON_ISA_AVX512_VNNI, LADON_ISA_AVX512_BF16)) ==
        LADON_ISA_AVX512_BF16);
  constexpr unsigned slow = bits(LADON_ISA_AVX512, LADON_ISA_AVX512_BF16) | c_kernel::slow_bfloat16;
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2 | slow) == LADON_ISA_AVX512);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, avx2 | slow | bits(LADON_ISA_AVX512_VNNI)) == LADON_ISA_AVX512_VNNI);
  CHECK(chosen_isa(LADON_ISA_AVX512_BF16, avx2 | slow) == LADON_ISA_AVX512_BF16);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, bits(LADON_ISA_NEON)) == LADON_ISA_NEON);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, bits(LADON_ISA_NEON, LADON_ISA_NEON_DOT)) == LADON_ISA_NEON_DOT);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, bits(LADON_ISA_NEON, LADON_ISA_NEON_DOT, LADON_ISA_NEON_I8MM)) ==
        LADON_ISA_NEON_I8MM);
  CHECK(chosen_isa(LADON_ISA_CHOSEN, bits(LADON_ISA_NEON, LADON_ISA_NEON_BF16)) == LADON_ISA_NEON_BF16);
}

// The order of the enumerators of ladon_isa does not say what a machine supports: LADON_ISA_AVX_VNNI is greater than
// LADON_ISA_AVX512, but a machine with AVX-VNNI may lack AVX-512. So chosen_isa must look up the requested instruction
// set in `available`, and must not compare values.
TEST_CASE("dispatch: an instruction set that the caller requests") {
  constexpr unsigned available = bits(LADON_ISA_SSE2, LADON_ISA_AVX2, LADON_ISA_AVX_VNNI);
  for (const int isa : {LADON_ISA_SSE2, LADON_ISA_AVX2, LADON_ISA_AVX_VNNI}) CHECK(chosen_isa(isa, available) == isa);
  for (const int isa :
       {int{LADON_ISA_AVX512}, int{LADON_ISA_AVX512_VNNI}, int{LADON_ISA_NEON}, int{LADON_ISA_AVX512_BF16},
        int{LADON_ISA_NEON_BF16}, int{LADON_ISA_NEON_I8MM}, -1, 11, 31, 32, 33, 1 << 30}) {
    CHECK(chosen_isa(isa, available) == LADON_ISA_CHOSEN);
  }
}

TEST_CASE("dispatch: the instruction sets of this machine") {
#if defined(__aarch64__)
  constexpr ladon_isa least = LADON_ISA_NEON, next = LADON_ISA_NEON_DOT;
  constexpr unsigned all = bits(least, next, LADON_ISA_NEON_BF16, LADON_ISA_NEON_I8MM);
#else
  constexpr ladon_isa least = LADON_ISA_SSE2, next = LADON_ISA_AVX2;
  constexpr unsigned all =
      bits(least, next, LADON_ISA_AVX512, LADON_ISA_AVX512_VNNI, LADON_ISA_AVX_VNNI, LADON_ISA_AVX512_BF16);
#endif
  const unsigned found = c_kernel::detected_isas();
  CHECK((found & ~(all | c_kernel::slow_bfloat16)) == 0);
  CHECK((found & bits(least)) != 0);
  // Code for AVX512_BF16 also uses AVX512_VNNI.
  if ((found & bits(LADON_ISA_AVX512_BF16)) != 0) CHECK((found & bits(LADON_ISA_AVX512_VNNI)) != 0);
  CHECK(c_kernel::usable(LADON_ISA_CHOSEN, bits(least)) == least);
  CHECK(c_kernel::usable(next, bits(least)) == LADON_ISA_CHOSEN);
  CHECK(c_kernel::usable(LADON_ISA_CHOSEN, all) == chosen_isa(LADON_ISA_CHOSEN, found));
  MESSAGE("instruction sets of this machine, bit i is number i of ladon_isa: ", found);
}

}  // namespace ladon_test
