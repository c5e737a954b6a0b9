// The C functions of every kernel that has a cache: NAME_cache_clear and NAME_cache_length. Under DISPATCH, a library
// has the code of several instruction sets. A cleared cache belongs to the code that fills it first.
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
    // The content is not cleared here. Its layout depends on the instruction set of the code that will fill the cache,
    // and this instruction set is not known yet.
    static_cast<Stored*>(cache)->mark = Stored::cleared;
    static_cast<Stored*>(cache)->length = 0;
    return LADON_OK;
  }
  static std::size_t cache_length(const void* cache) {
    return cache == nullptr ? 0 : static_cast<const Stored*>(cache)->length;
  }

 protected:
  // Returns whether this code has filled the cache.
  static bool filled(const Stored& stored) { return stored.mark == Settings::cache_mark; }
  // Returns whether the cache is cleared, or filled by this code.
  static bool usable(const Stored& stored) { return stored.mark == Stored::cleared || filled(stored); }
  // Prepares the cache for this code, unless this code has filled the cache already.
  static void open(Stored& stored) {
    if (!filled(stored)) stored.clear(Settings::cache_mark);
  }
};

}  // namespace c_kernel
