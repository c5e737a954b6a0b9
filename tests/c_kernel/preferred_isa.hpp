// Tells which code a C kernel with DISPATCH runs.
#pragma once

#include "each_isa.hpp"
#if defined(LADON_TEST_DISPATCH)
#include "cpu.hpp"
#endif

namespace ladon_test {

// Returns whether a call with options.isa = `isa` runs the code for the instruction set `Isa`. This is the case if
// `isa` equals `Isa`, or if `isa` is LADON_ISA_CHOSEN and DISPATCH prefers `Isa` to all others on this machine
// (src/c_kernel/cpu.hpp). The options of the kernel must have the member `isa`.
template <auto Run, class W, class O, int Isa>
bool calls_preferred(int isa) {
  if (isa == Isa) return true;
#if defined(LADON_TEST_DISPATCH)
  return isa == LADON_ISA_CHOSEN && runs_here<Run, W, O, Isa>() &&
         c_kernel::usable(LADON_ISA_CHOSEN, c_kernel::bits(Isa)) == Isa;
#else
  return false;
#endif
}

}  // namespace ladon_test
