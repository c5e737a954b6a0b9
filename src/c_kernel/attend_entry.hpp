// SPDX-License-Identifier: Apache-2.0
// Implements the C functions of a kernel that projects a context once to keys and values, and attends to them in many
// calls: NAME_project_keys and NAME_attend. The base class CacheEntry implements NAME_cache_clear and
// NAME_cache_length. call.hpp describes the template arguments `Kernel`, `Settings`, `W` and `O`.
#pragma once

#include <cstddef>

#include "cache_entry.hpp"

namespace c_kernel::inline LADON_ABI {

template <class Kernel, class Settings, class W, class O>
struct AttendEntry : CacheEntry<Kernel, Settings, W, O> {
  static constexpr ladon::Shape shape = Kernel::shape;
  using Workspace = typename Kernel::CachedWorkspace;
  using KeyWorkspace = typename Kernel::KeyWorkspace;
  using Base = CacheEntry<Kernel, Settings, W, O>;
  using Base::bytes;
  using typename Base::Stored;

  static ladon_status project_keys(const float* context, void* cache, const W* weights, void* workspace,
                                   const O* options) {
    return project_keys(context, context, cache, weights, workspace, options);
  }
  static ladon_status project_keys(const float* key_context, const float* value_context, void* cache, const W* weights,
                                   void* workspace, const O* options) {
    const O& chosen = Base::given(options);
    const Context given{key_context, value_context, cache, weights, workspace};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Stored& stored = *static_cast<Stored*>(cache);
    Base::open(stored);
    Kernel::project_keys(key_context, value_context, call.weights, stored.content,
                         *static_cast<KeyWorkspace*>(workspace), call.options);
    stored.length = call.lengths.keys;
    return status;
  }

  static ladon_status attend(const float* x, const void* cache, const W* weights, float* y, void* workspace,
                             const O* options) {
    const O& chosen = Base::given(options);
    const Given given{x, static_cast<const Stored*>(cache), weights, y, workspace};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Prepared::with_attention(chosen, [&](auto&&... to) { compute(given, call, to...); });
    return status;
  }

 private:
  using typename Base::Prepared;
  struct Context {
    const float* keys;
    const float* values;
    void* cache;
    const W* weights;
    void* workspace;
  };
  struct Given {
    const float* x;
    const Stored* cache;
    const W* weights;
    float* y;
    void* workspace;
  };

  static LADON_NOINLINE ladon_status prepare(const Context& given, const O& options, Prepared& call) {
    typename Prepared::Checked check;
    check.expect(given.keys != nullptr && given.values != nullptr, LADON_NULL_INPUT);
    check.aligned(given.workspace, LADON_NULL_WORKSPACE);
    check.aligned(given.cache, LADON_NULL_WORKSPACE);
    call.take_lengths(check, options);
    if (!check.ok()) return check.status();
    check.expect(Base::usable(*static_cast<const Stored*>(given.cache)), LADON_CACHE_NOT_CLEARED);
    check.writes(static_cast<const std::byte*>(given.workspace), bytes.workspace);
    check.writes(static_cast<const std::byte*>(given.cache), bytes.cache);
    check.reads(given.keys, call.lengths.keys * shape.key_model);
    check.reads(given.values, call.lengths.keys * shape.value_model);
    call.take_options(check, options);
    call.take_weights(check, given.weights);
    Prepared::positions(check, options, 0, call.lengths.keys);
    return check.status();
  }

  static LADON_NOINLINE ladon_status prepare(const Given& given, const O& options, Prepared& call) {
    typename Prepared::Checked check;
    check.expect(given.x != nullptr, LADON_NULL_INPUT);
    check.expect(given.y != nullptr, LADON_NULL_OUTPUT);
    check.aligned(given.workspace, LADON_NULL_WORKSPACE);
    check.aligned(given.cache, LADON_NULL_WORKSPACE);
    call.take_lengths(check, options);
    if (!check.ok()) return check.status();
    check.expect(Base::filled(*given.cache), LADON_CACHE_NOT_CLEARED);
    if (options.keys == 0) call.options.keys = call.lengths.keys = given.cache->length;
    check.expect(call.lengths.keys <= given.cache->length, LADON_LENGTH_BEYOND_SHAPE);
    check.writes(given.y, call.lengths.queries * shape.model);
    check.writes(static_cast<const std::byte*>(given.workspace), bytes.workspace);
    Prepared::attention(check, options);
    check.reads_x(given.x, call.lengths.queries * shape.model);
    check.reads(reinterpret_cast<const std::byte*>(given.cache), bytes.cache);
    call.take_options(check, options);
    call.take_weights(check, given.weights);
    Prepared::positions(check, options, Prepared::bottom_right(), call.lengths.queries);
    return check.status();
  }

  template <class... To>
  static LADON_NOINLINE void compute(const Given& given, const Prepared& call, To&&... to) {
    Kernel::attend(given.x, given.cache->content, call.weights, given.y, *static_cast<Workspace*>(given.workspace),
                   call.options, to...);
  }
};

}  // namespace c_kernel::inline LADON_ABI
