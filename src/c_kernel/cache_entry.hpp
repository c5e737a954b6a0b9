// The C functions of every kernel that has a cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "call.hpp"
#include "check.hpp"
#include "memory.hpp"

namespace c_kernel {

template <class Kernel, class Settings, class W, class O>
struct CacheEntry : Entry<Kernel, Settings, W, O> {
  using Stored = StoredCache<Kernel>;

  static ladon_status cache_clear(void* cache) {
    Check<1> check;
    check.aligned(cache, LADON_NULL_WORKSPACE);
    if (!check.ok()) return check.status();
    // not the rest of it: whose code will fill it is not known yet
    static_cast<Stored*>(cache)->mark = Stored::cleared;
    static_cast<Stored*>(cache)->length = 0;
    return LADON_OK;
  }
  static std::size_t cache_length(const void* cache) {
    return cache == nullptr ? 0 : static_cast<const Stored*>(cache)->length;
  }

 protected:
  static bool filled(const Stored& stored) { return stored.mark == Settings::cache_mark; }
  static bool usable(const Stored& stored) { return stored.mark == Stored::cleared || filled(stored); }
  static void open(Stored& stored) {
    if (!filled(stored)) stored.clear(Settings::cache_mark);
  }
};

}  // namespace c_kernel
