// SPDX-License-Identifier: Apache-2.0
// Implements NAME_extend, the C function of a kernel that appends tokens to a text. The base class CacheEntry
// implements NAME_cache_clear and NAME_cache_length. call.hpp describes `Kernel`, `Settings`, `W` and `O`.
#pragma once

#include <cstddef>

#include "cache_entry.hpp"

namespace c_kernel {

template <class Kernel, class Settings, class W, class O>
struct ExtendEntry : CacheEntry<Kernel, Settings, W, O> {
  static constexpr ladon::Shape shape = Kernel::shape;
  using Workspace = typename Kernel::CachedWorkspace;
  using Base = CacheEntry<Kernel, Settings, W, O>;
  using Base::bytes;
  using typename Base::Stored;

  static ladon_status extend(const float* x, void* cache, const W* weights, float* y, void* workspace,
                             const O* options) {
    const O& chosen = Base::given(options);
    const Given given{x, cache, weights, y, workspace};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Prepared::with_attention(chosen, [&](auto&&... to) { compute(given, call, to...); });
    return status;
  }

 private:
  using typename Base::Prepared;
  struct Given {
    const float* x;
    void* cache;
    const W* weights;
    float* y;
    void* workspace;
    Stored& stored() const { return *static_cast<Stored*>(cache); }
  };

  static LADON_NOINLINE ladon_status prepare(const Given& given, const O& options, Prepared& call) {
    typename Prepared::Checked check;
    check.expect(given.x != nullptr, LADON_NULL_INPUT);
    check.expect(given.y != nullptr, LADON_NULL_OUTPUT);
    check.aligned(given.workspace, LADON_NULL_WORKSPACE);
    check.aligned(given.cache, LADON_NULL_WORKSPACE);
    call.take_lengths(check, options);
    if (!check.ok()) return check.status();

    const std::size_t tokens = call.lengths.queries, before = given.stored().length;
    check.expect(Base::usable(given.stored()), LADON_CACHE_NOT_CLEARED);
    check.expect(tokens <= shape.keys, LADON_LENGTH_BEYOND_SHAPE);
    check.expect(Stored::ring || before <= shape.keys - tokens, LADON_CACHE_FULL);
    check.writes(given.y, tokens * shape.model);
    check.writes(static_cast<const std::byte*>(given.workspace), bytes.workspace);
    check.writes(static_cast<const std::byte*>(given.cache), bytes.cache);
    Prepared::attention(check, options);
    check.reads_x(given.x, tokens * shape.model);
    call.take_options(check, options);
    call.take_weights(check, given.weights);
    Prepared::positions(check, options, static_cast<std::ptrdiff_t>(before), tokens);
    return check.status();
  }

  template <class... To>
  static LADON_NOINLINE void compute(const Given& given, const Prepared& call, To&&... to) {
    Stored& stored = given.stored();
    Base::open(stored);
    Kernel::extend(given.x, stored.content, call.weights, given.y, *static_cast<Workspace*>(given.workspace),
                   call.options, to...);
    stored.length += call.lengths.queries;
  }
};

}  // namespace c_kernel
