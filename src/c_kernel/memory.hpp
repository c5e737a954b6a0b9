// SPDX-License-Identifier: Apache-2.0
// Defines the types and the sizes of the memory that the caller of a kernel provides: the workspace and the cache, for
// each kind of kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

namespace c_kernel::inline LADON_ABI {

// The types of the memory of a kernel without a cache. `Workspace` is the memory of a call by one thread. `Shared` is
// the memory that all threads use if several threads compute a call. If `Context` is true, the kernel attends to a
// context, and both types differ from the types for self-attention.
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

// The types of a kernel's cache. `Type` is the whole cache: for a stack, the caches of all layers. `One` is the cache
// of one layer. If some layers have rings and others do not, `One` is no ring.
template <class Kernel>
struct CacheOf {
  using Type = typename Kernel::Cache;
  using One = Type;
};
template <class Caches, class Layer>
struct OneCache {  // some layers have rings
  using Type = typename Layer::Cache;
};
template <class Cache, std::size_t Layers, class Layer>
struct OneCache<std::array<Cache, Layers>, Layer> {
  using Type = Cache;
};
template <class Kernel>
  requires requires { typename Kernel::Caches; }
struct CacheOf<Kernel> {
  using Type = typename Kernel::Caches;
  using One = typename OneCache<Type, typename Kernel::Layer>::Type;
};

// Stands for the memory of a decoder in the argument of CacheOf. CacheOf<ProjectedMemory<Kernel>> has the types of the
// caches that hold the keys and values of the memory. CacheOf<Kernel> has the types of the text's caches.
template <class Kernel>
struct ProjectedMemory {
  using Cache = typename Kernel::MemoryCache;
};
template <class Kernel>
  requires requires { typename Kernel::MemoryCaches; }
struct ProjectedMemory<Kernel> {
  using Caches = typename Kernel::MemoryCaches;
  struct Layer {
    using Cache = typename Kernel::Layer::MemoryCache;
  };
};

// The cache of a C kernel. NAME.h declares only the size of a cache in bytes. `mark` is `cleared`, or a number for the
// variant of the kernel that filled the cache (cache_entry.hpp). A library made with DISPATCH has a variant for each
// instruction set, and the layout of `content` depends on the instruction set. So only the variant that filled the
// cache may use `content`. StoredCache<ProjectedMemory<Kernel>> is the cache for the keys and values of a decoder's
// memory.
template <class Kernel>
struct alignas(64) StoredCache {
  using Type = typename CacheOf<Kernel>::Type;
  static constexpr bool ring = CacheOf<Kernel>::One::ring;
  static constexpr std::uint32_t cleared = 0x1ad0ca5e;  // differs from all marks, whose last hex digit is 1 to d

  std::uint32_t mark;
  // For NAME_extend_phase. Phase p may begin if next_phase[p % 2] is its ticket, a number for the variant and the
  // phase. Share 0 of phase p writes the ticket of phase p + 1 to the other element, which no other share of phase p
  // reads.
  std::uint32_t next_phase[2];
  std::size_t past;    // for NAME_extend_phase: `length` before phase 0
  std::size_t length;  // number of stored tokens, including tokens that a ring has replaced
  alignas(64) Type content;

  // Makes `content` an empty cache, and sets `length` to 0 and `mark` to `by`. `by` is the mark of the kernel variant
  // that will fill the cache.
  void clear(std::uint32_t by) {
    clear_content();
    length = 0;
    mark = by;
  }
  void clear_content() {
    for_layers([](auto& layer) { layer.clear(); });
  }
  // Removes the tokens that an unfinished call of NAME_extend_phase has added to some layers. Without such tokens,
  // writes nothing, because other threads may read.
  void remove_unfinished() {
    for_layers([&](auto& layer) {
      if (layer.length != length) layer.length = length;
    });
  }

 private:
  template <class F>
  void for_layers(F f) {
    if constexpr (requires { content.rings; }) {
      content.each(f);
    } else if constexpr (requires { content.clear(); }) {
      f(content);
    } else {
      for (auto& layer : content) f(layer);
    }
  }
};

// The sizes of a kernel's memory in bytes. If a kernel does not need a kind of memory, the size is 0.
struct Sizes {
  std::size_t workspace = 0;
  std::size_t shared = 0;   // part of the workspace that all threads of a call share
  std::size_t scratch = 0;  // part of the workspace that each thread has for itself
  std::size_t cache = 0;
  std::size_t memory_cache = 0;  // the cache of a decoder's memory
};

// Returns the size of the workspace of a kernel that has two functions with different workspaces: NAME_project_keys and
// NAME_attend, or NAME_project_memory and NAME_extend. The size is large enough for both. `Project` is the workspace of
// the function that projects.
template <class Kernel, class Project>
constexpr std::size_t workspace_of_both() {
  constexpr std::size_t cached = sizeof(typename Kernel::CachedWorkspace), project = sizeof(Project);
  return cached > project ? cached : project;
}

template <class Kernel, class Settings>
constexpr Sizes sizes_of() {
  if constexpr (Settings::given) {
    return {.workspace = sizeof(typename Kernel::Workspace), .scratch = sizeof(typename Kernel::Scratch)};
  } else if constexpr (!Settings::cache) {
    using Memory = MemoryOf<Kernel, Settings::context>;
    return {.workspace = sizeof(typename Memory::Workspace),
            .shared = sizeof(typename Memory::Shared),
            .scratch = sizeof(typename Kernel::Scratch)};
  } else if constexpr (Settings::context) {
    return {.workspace = workspace_of_both<Kernel, typename Kernel::KeyWorkspace>(),
            .cache = sizeof(StoredCache<Kernel>)};
  } else {
    Sizes sizes{.workspace = sizeof(typename Kernel::CachedWorkspace),
                .shared = sizeof(typename Kernel::ExtendShared),
                .scratch = sizeof(typename Kernel::ExtendScratch),
                .cache = sizeof(StoredCache<Kernel>)};
    if constexpr (Settings::memory > 0) {
      sizes.workspace = workspace_of_both<Kernel, typename Kernel::MemoryWorkspace>();
      sizes.memory_cache = sizeof(StoredCache<ProjectedMemory<Kernel>>);
    }
    return sizes;
  }
}

// Returns the sizes of the workspace and of the caches. A call uses these sizes to check that its arrays do not
// overlap. With DISPATCH, the sizes depend on the instruction set, and NAME.h requires the largest sizes from the
// caller. Every variant uses the largest sizes in its checks, so that a call returns the same status on every machine.
template <class Kernel, class Settings>
constexpr Sizes checked_sizes() {
  if constexpr (Settings::dispatch) {
    return Settings::demanded;
  } else {
    return sizes_of<Kernel, Settings>();
  }
}

}  // namespace c_kernel::inline LADON_ABI
