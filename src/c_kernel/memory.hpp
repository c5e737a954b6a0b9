// SPDX-License-Identifier: Apache-2.0
// Defines the types and the sizes of the memory that the caller of a kernel provides: the workspace and the cache, for
// each kind of kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

namespace c_kernel {

// The memory of a kernel without a cache. `Workspace` is the memory of a call by one thread. If several threads compute
// a call, `Shared` is the part of the memory that all of these threads use. If `Context` is true, the kernel attends to
// a context, and `Workspace` and `Shared` differ from the types for self-attention.
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

// The cache of a C kernel. NAME.h declares only the size of a cache in bytes. `mark` is `cleared`, or the mark of the
// kernel variant that filled the cache (cache_entry.hpp). Only this variant may use `content`, because the layout of
// `content` depends on the instruction set of the variant.
template <class Kernel>
struct alignas(64) StoredCache {
  using Type = typename CacheOf<Kernel>::Type;
  static constexpr bool ring = CacheOf<Kernel>::One::ring;
  static constexpr std::uint32_t cleared = 0x1ad0ca5e;  // differs from all marks of kernels, which end in 1 to 5

  std::uint32_t mark;
  std::size_t length;  // number of stored tokens, including tokens that a ring has replaced
  alignas(64) Type content;

  // Initialises an empty `content`, sets `length` to 0, and writes `by`, the mark of the kernel variant that will fill
  // the cache.
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

// The sizes of a kernel's memory in bytes. If a kernel does not need a kind of memory, the size is 0.
struct Sizes {
  std::size_t workspace;
  std::size_t shared;   // part of the workspace that all threads of a call share
  std::size_t scratch;  // part of the workspace that each thread has for itself
  std::size_t cache;
};

// Returns the size of the workspace of a kernel with NAME_project_keys and NAME_attend. Both functions use one
// workspace, which is large enough for a KeyWorkspace (project_keys) and for a CachedWorkspace (attend).
template <class Kernel>
constexpr std::size_t workspace_of_attend() {
  constexpr std::size_t attend = sizeof(typename Kernel::CachedWorkspace),
                        project = sizeof(typename Kernel::KeyWorkspace);
  return attend > project ? attend : project;
}

template <class Kernel, class Settings>
constexpr Sizes sizes_of() {
  if constexpr (!Settings::cache) {
    using Memory = MemoryOf<Kernel, Settings::context>;
    return {sizeof(typename Memory::Workspace), sizeof(typename Memory::Shared), sizeof(typename Kernel::Scratch), 0};
  } else if constexpr (Settings::context) {
    return {workspace_of_attend<Kernel>(), 0, 0, sizeof(StoredCache<Kernel>)};
  } else {
    return {sizeof(typename Kernel::CachedWorkspace), 0, 0, sizeof(StoredCache<Kernel>)};
  }
}

// Returns the sizes of the memory that a call checks for overlaps. With DISPATCH, NAME.h requires the sizes of the
// instruction set that needs the most memory. All variants check these sizes, so that a call returns the same status on
// every machine.
template <class Kernel, class Settings>
constexpr Sizes checked_sizes() {
  if constexpr (Settings::dispatch) {
    return Settings::demanded;
  } else {
    return sizes_of<Kernel, Settings>();
  }
}

}  // namespace c_kernel
