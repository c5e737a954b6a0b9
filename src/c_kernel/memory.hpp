// The memory that the caller of a kernel provides: types and sizes, for each kind of kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

#include "sizes.hpp"

namespace c_kernel {

// The memory of a kernel without a cache: `Workspace` for one thread, and `Shared` for the part that several threads
// share. Attention to a context uses other types than self-attention.
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

// The type of a kernel's cache. The cache of a stack has one cache for each layer. `One` is the cache of one layer.
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

// The cache of a C kernel. The C program sees only bytes. `mark` is `cleared`, or the mark of the code that filled the
// cache. The layout of `content` depends on the instruction set, so only the code that filled the cache may use it.
template <class Kernel>
struct alignas(64) StoredCache {
  using Type = typename CacheOf<Kernel>::Type;
  static constexpr bool ring = CacheOf<Kernel>::One::ring;
  static constexpr std::uint32_t cleared = 0x1ad0ca5e;  // differs from every mark of a kernel, which ends in 1, 2 or 3

  std::uint32_t mark;
  std::size_t length;  // number of tokens so far, including tokens that a ring has dropped
  alignas(64) Type content;

  // Empties the cache and marks it as filled by the code `by`.
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

// These functions return the sizes of a kernel's memory. There is one function for each kind of kernel.
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
// One workspace serves project_keys and attend. The workspace has the larger of the two sizes.
template <class Kernel>
constexpr Sizes sizes_of_attend() {
  constexpr std::size_t attend = sizeof(typename Kernel::CachedWorkspace),
                        project = sizeof(typename Kernel::KeyWorkspace);
  return {attend > project ? attend : project, 0, 0, sizeof(StoredCache<Kernel>)};
}

}  // namespace c_kernel
