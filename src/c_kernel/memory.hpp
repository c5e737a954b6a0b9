// The memory that a kernel of each kind takes from its caller.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

#include "sizes.hpp"

namespace c_kernel {

// Without a cache: for one thread, and for a team. Keys from a context have a type of their own.
template <class Kernel, bool Context>
struct MemoryOf {
  using Workspace = typename Kernel::Workspace;
  using Shared = typename Kernel::Shared;
};
template <class Kernel>
struct MemoryOf<Kernel, true> {
  using Workspace = typename Kernel::CrossWorkspace;
  using Shared = typename Kernel::CrossShared;
};

// Keys and values kept: of a stack, for each layer. `One` is a layer's.
template <class Kernel>
struct CacheOf {
  using Type = typename Kernel::Cache;
  using One = Type;
};
template <class Kernel>
  requires requires { typename Kernel::Caches; }
struct CacheOf<Kernel> {
  using Type = typename Kernel::Caches;
  using One = typename Kernel::Layer::Cache;
};

// A cache as C sees it: bytes, of which the first say whose they are. How the rest is laid out is a matter of the
// instruction set, so only the code that filled a cache may go on with it.
template <class Kernel>
struct alignas(64) StoredCache {
  using Type = typename CacheOf<Kernel>::Type;
  static constexpr bool ring = CacheOf<Kernel>::One::ring;
  static constexpr std::uint32_t cleared = 0x1ad0ca5e;  // a kernel's own mark ends in 1, 2 or 3

  std::uint32_t mark;
  std::size_t length;  // tokens so far
  alignas(64) Type content;

  void clear(std::uint32_t by) {
    if constexpr (requires { content.clear(); }) {
      content.clear();
    } else {
      for (auto& layer : content) layer.clear();
    }
    length = 0;
    mark = by;
  }
};

template <class Kernel>
constexpr Sizes sizes_of_run() {
  using Memory = MemoryOf<Kernel, false>;
  return {sizeof(typename Memory::Workspace), sizeof(typename Memory::Shared), sizeof(typename Kernel::Scratch), 0};
}
template <class Kernel>
constexpr Sizes sizes_of_run_with_context() {
  using Memory = MemoryOf<Kernel, true>;
  return {sizeof(typename Memory::Workspace), sizeof(typename Memory::Shared), sizeof(typename Kernel::Scratch), 0};
}
template <class Kernel>
constexpr Sizes sizes_of_extend() {
  return {sizeof(typename Kernel::CachedWorkspace), 0, 0, sizeof(StoredCache<Kernel>)};
}
// One workspace for both steps.
template <class Kernel>
constexpr Sizes sizes_of_attend() {
  constexpr std::size_t attend = sizeof(typename Kernel::CachedWorkspace),
                        project = sizeof(typename Kernel::KeyWorkspace);
  return {attend > project ? attend : project, 0, 0, sizeof(StoredCache<Kernel>)};
}

}  // namespace c_kernel
