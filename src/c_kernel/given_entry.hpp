// SPDX-License-Identifier: Apache-2.0
// Implements the C functions of attention without projections: NAME_run, NAME_run_with and NAME_run_phase, which take
// queries, keys and values. call.hpp describes the template arguments `Kernel`, `Settings`, `W` and `O`.
#pragma once

#include <cstddef>

#include "call.hpp"
#include "memory.hpp"

namespace c_kernel::inline LADON_ABI {

template <class Kernel, class Settings, class W, class O>
struct GivenEntry : Entry<Kernel, Settings, W, O> {
  using Base = Entry<Kernel, Settings, W, O>;
  static constexpr ladon::Shape shape = Kernel::shape;
  using Workspace = typename Kernel::Workspace;
  using Scratch = typename Kernel::Scratch;
  static constexpr Sizes bytes = checked_sizes<Kernel, Settings>();

  static ladon_status run(const float* q, const float* k, const float* v, float* out, void* workspace) {
    const Given given{q, k, v, out, workspace, bytes.workspace};
    Prepared call;
    const ladon_status status = prepare(given, Base::given(nullptr), call);
    if (status == LADON_OK) compute(given, call);
    return status;
  }
  static ladon_status run_with(const float* q, const float* k, const float* v, float* out, void* workspace,
                               const O* options) {
    const O& chosen = Base::given(options);
    const Given given{q, k, v, out, workspace, bytes.workspace};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Prepared::with_attention(chosen, [&](auto&&... to) { compute(given, call, to...); });
    return status;
  }
  static ladon_status run_phase(std::size_t phase, std::size_t share, std::size_t shares, const float* q,
                                const float* k, const float* v, float* out, void* workspace, const O* options) {
    if (!Base::has_share(phase, share, shares)) return LADON_NO_SUCH_PHASE;
    const O& chosen = Base::given(options);
    const Given given{q, k, v, out, workspace, shares * bytes.scratch};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Prepared::with_attention(chosen, [&](auto&&... to) { compute_share(phase, {share, shares}, given, call, to...); });
    return status;
  }

 private:
  using typename Base::Prepared;
  struct Given {
    const float* q;
    const float* k;
    const float* v;
    float* out;
    void* workspace;
    std::size_t workspace_bytes;
  };

  static LADON_NOINLINE ladon_status prepare(const Given& given, const O& options, Prepared& call) {
    typename Prepared::Checked check;
    check.expect(given.q != nullptr && given.k != nullptr && given.v != nullptr, LADON_NULL_INPUT);
    check.expect(given.out != nullptr, LADON_NULL_OUTPUT);
    check.aligned(given.workspace, LADON_NULL_WORKSPACE);
    call.take_lengths(check, options);
    if (!check.ok()) return check.status();

    const std::size_t queries = call.lengths.queries, keys = call.lengths.keys;
    check.writes(given.out, extent(shape.heads, shape.queries, queries) * shape.value_width);
    check.writes(static_cast<const std::byte*>(given.workspace), given.workspace_bytes);
    Prepared::attention(check, options);
    const std::size_t query_floats = extent(shape.heads, shape.queries, queries) * shape.head_width;
    if constexpr (shape.head_width == shape.value_width) {
      check.reads_x(given.q, query_floats);
    } else {
      check.reads(given.q, query_floats);
    }
    check.reads(given.k, extent(shape.kv_heads, shape.keys, keys) * shape.head_width);
    check.reads(given.v, extent(shape.kv_heads, shape.keys, keys) * shape.value_width);
    call.take_options(check, options);
    Prepared::positions(check, options, 0, keys);
    Prepared::positions(check, options, Prepared::bottom_right(), queries);
    return check.status();
  }

  // Returns how many tokens of an array [heads][tokens] a call uses: all tokens from the first token of head 0 to the
  // last active token of the last head.
  static constexpr std::size_t extent(std::size_t heads, std::size_t tokens, std::size_t active) {
    return active == 0 ? 0 : (heads - 1) * tokens + active;
  }

  template <class... To>
  static LADON_NOINLINE void compute(const Given& given, const Prepared& call, To&&... to) {
    Kernel::run(given.q, given.k, given.v, given.out, *static_cast<Workspace*>(given.workspace), call.options, to...);
  }

  template <class... To>
  static LADON_NOINLINE void compute_share(std::size_t phase, ladon::Share share, const Given& given,
                                           const Prepared& call, To&&... to) {
    typename Kernel::Shared none;
    const ladon::Part<typename Kernel::Shared, Scratch> part{phase, share, none,
                                                             static_cast<Scratch*>(given.workspace)[share.index]};
    Kernel::run(given.q, given.k, given.v, given.out, part, call.options, to...);
  }
};

}  // namespace c_kernel::inline LADON_ABI
