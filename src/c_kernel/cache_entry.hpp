// SPDX-License-Identifier: Apache-2.0
// Implements the C functions that every kernel with a cache has: NAME_cache_clear and NAME_cache_length.
//
// A library made with DISPATCH contains several variants of a kernel, one for each instruction set. In every variant,
// NAME_cache_clear sets the mark of the cache to `cleared`. The first variant that fills the cleared cache replaces
// `cleared` by its own mark. From then on, only this variant can use the cache, until the cache is cleared again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "call.hpp"
#include "check.hpp"
#include "memory.hpp"

namespace c_kernel::inline LADON_ABI {

template <class Kernel, class Settings, class W, class O>
struct CacheEntry : Entry<Kernel, Settings, W, O> {
  using Stored = StoredCache<Kernel>;
  static constexpr Sizes bytes = checked_sizes<Kernel, Settings>();

  static ladon_status cache_clear(void* cache) {
    Check<1> check;
    check.aligned(cache, LADON_NULL_WORKSPACE);
    if (!check.ok()) return check.status();
    // `content` is not cleared here, because its layout depends on the instruction set of the kernel variant that will
    // fill the cache. This variant is not known yet.
    auto& stored = *static_cast<Stored*>(cache);
    stored.mark = Stored::cleared;
    stored.next_phase[0] = stored.next_phase[1] = 0;
    stored.past = stored.length = 0;
    return LADON_OK;
  }
  static std::size_t cache_length(const void* cache) {
    return cache == nullptr ? 0 : static_cast<const Stored*>(cache)->length;
  }

 protected:
  // Returns whether the cache has the mark of this variant of the kernel, which means that this variant has filled the
  // cache.
  static bool filled(const Stored& stored) { return stored.mark == Settings::cache_mark; }
  // Returns whether this variant of the kernel can fill the cache: either the cache is cleared, or this variant has
  // filled the cache before.
  static bool usable(const Stored& stored) { return stored.mark == Stored::cleared || filled(stored); }
  // Prepares the cache for new tokens. If the cache is cleared, initialises `content` and writes the mark of this
  // variant of the kernel.
  static void open(Stored& stored) {
    if (!filled(stored)) stored.clear(Settings::cache_mark);
    stored.remove_unfinished();
  }
};

}  // namespace c_kernel::inline LADON_ABI
