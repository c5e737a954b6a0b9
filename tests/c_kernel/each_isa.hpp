// Defines functions that call a C kernel. A kernel made with DISPATCH is called once with each instruction set of this
// machine, and once with the instruction set that DISPATCH chooses. Any other kernel is called once.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "c_subject.hpp"
#include "guarded_run.hpp"

namespace ladon_test {

// Calls the kernel `Run` with the instruction set `Isa`. A kernel without DISPATCH ignores `Isa`.
template <auto Run, class W, class O, int Isa>
ladon_status by(const float* x, const W* weights, float* y, void* workspace, const O* given) {
  O options = *given;
  if constexpr (requires { options.isa; }) options.isa = static_cast<ladon_isa>(Isa);
  return Run(x, weights, y, workspace, &options);
}
template <auto Run, class W, class O, int Isa>
bool runs_here() {
  const O options{};
  return by<Run, W, O, Isa>(nullptr, nullptr, nullptr, nullptr, &options) != LADON_UNSUPPORTED_ISA;
}

// Calls f.operator()<Isa>() for each instruction set of DISPATCH.
template <class F>
void for_isas(F f) {
  f.template operator()<LADON_ISA_SSE2>();
  f.template operator()<LADON_ISA_AVX2>();
  f.template operator()<LADON_ISA_AVX512>();
  f.template operator()<LADON_ISA_AVX512_VNNI>();
  f.template operator()<LADON_ISA_AVX_VNNI>();
  f.template operator()<LADON_ISA_NEON>();
  f.template operator()<LADON_ISA_NEON_DOT>();
  f.template operator()<LADON_ISA_AVX512_BF16>();
  f.template operator()<LADON_ISA_NEON_BF16>();
  f.template operator()<LADON_ISA_NEON_I8MM>();
}

// Calls check(subject), or check(subject, isa) if `check` takes two arguments. For a library with DISPATCH, makes a
// call for each instruction set that both the machine and the library support, and a call for the instruction set that
// DISPATCH chooses. For a library without DISPATCH, makes a single call.
template <ladon::Shape S, std::size_t WorkspaceBytes, class W, class O, auto Run, class Check>
void each_isa(std::size_t layers, Check check) {
  int found = 0;
  const auto with = [&]<int Isa>() {
    if (!runs_here<Run, W, O, Isa>()) {
      MESSAGE("skipped: this machine or this kernel lacks instruction set ", Isa, " of ladon_isa");
      return;
    }
    CAPTURE(Isa);
    ++found;
    const Subject subject = c_subject<S, WorkspaceBytes, W, O, by<Run, W, O, Isa>>(layers);
    if constexpr (std::is_invocable_v<Check, const Subject&, int>) {
      check(subject, Isa);
    } else {
      check(subject);
    }
  };
  with.template operator()<LADON_ISA_CHOSEN>();
  if constexpr (requires(O options) { options.isa; }) {
    for_isas(with);
    CHECK(found >= 2);
  }
}

// Checks that the outputs of the kernel `Run` for the tokens `x` are bit-identical with all instruction sets.
template <std::size_t WorkspaceBytes, class W, class O, auto Run>
void check_same_bits(const Floats& x, const W& weights) {
  struct alignas(64) Workspace {
    unsigned char bytes[WorkspaceBytes];
  };
  static Workspace workspace;
  std::vector<Floats> results;
  const O none{};
  const auto with = [&]<int Isa>() {
    Floats y(x.size());
    if (by<Run, W, O, Isa>(x.data(), &weights, y.data(), workspace.bytes, &none) == LADON_OK) results.push_back(y);
  };
  for_isas(with);
  with.template operator()<LADON_ISA_CHOSEN>();
  REQUIRE(results.size() >= 2);
  for (const Floats& y : results) CHECK(same_bits(y, results[0]));
}

}  // namespace ladon_test
