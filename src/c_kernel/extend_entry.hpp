// SPDX-License-Identifier: Apache-2.0
// Implements the C functions of a kernel that appends tokens to a text: NAME_extend, NAME_extend_phase, and for a
// decoder NAME_project_memory. The base class CacheEntry implements NAME_cache_clear and NAME_cache_length. call.hpp
// describes the template arguments `Kernel`, `Settings`, `W` and `O`.
#pragma once

#include <cstddef>

#include "cache_entry.hpp"

namespace c_kernel::inline LADON_ABI {

template <class Kernel, class Settings, class W, class O>
struct ExtendEntry : CacheEntry<Kernel, Settings, W, O> {
  static constexpr ladon::Shape shape = Kernel::shape;
  using Workspace = typename Kernel::CachedWorkspace;
  using Shared = typename Kernel::ExtendShared;
  using Scratch = typename Kernel::ExtendScratch;
  using Base = CacheEntry<Kernel, Settings, W, O>;
  using Base::bytes;
  using typename Base::Stored;

  // The overloads of `extend` and extend_phase for a kernel without a memory. Each calls the overload for a decoder,
  // with a null pointer as `memory`.
  static ladon_status extend(const float* x, void* cache, const W* weights, float* y, void* workspace,
                             const O* options) {
    return extend(x, cache, nullptr, weights, y, workspace, options);
  }
  static ladon_status extend_phase(std::size_t phase, std::size_t share, std::size_t shares, const float* x,
                                   void* cache, const W* weights, float* y, void* workspace, const O* options) {
    return extend_phase(phase, share, shares, x, cache, nullptr, weights, y, workspace, options);
  }

  // The overloads of `extend` and extend_phase for a decoder. The overloads for a kernel without a memory call these
  // functions, too.
  static ladon_status extend(const float* x, void* cache, const void* memory, const W* weights, float* y,
                             void* workspace, const O* options) {
    const O& chosen = Base::given(options);
    const Given given{x, cache, memory, weights, y, workspace, bytes.workspace};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Prepared::with_attention(chosen, [&](auto&&... to) { compute(given, call, to...); });
    return status;
  }
  static ladon_status extend_phase(std::size_t phase, std::size_t share, std::size_t shares, const float* x,
                                   void* cache, const void* memory, const W* weights, float* y, void* workspace,
                                   const O* options) {
    if (!Base::has_share(phase, share, shares)) return LADON_NO_SUCH_PHASE;
    const O& chosen = Base::given(options);
    const std::size_t workspace_bytes = bytes.shared + shares * bytes.scratch;
    const Given given{x, cache, memory, weights, y, workspace, workspace_bytes, phase, share};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Prepared::with_attention(chosen, [&](auto&&... to) { compute_share(phase, {share, shares}, given, call, to...); });
    return status;
  }

  // Stores the keys and values of a decoder's memory in `cache`, and replaces the old content. A new cache need not be
  // cleared before this call. (For a text, NAME_cache_clear must be called on a new cache.)
  static ladon_status project_memory(const float* memory, void* cache, const W* weights, void* workspace,
                                     const O* options)
    requires(Settings::memory > 0)
  {
    Prepared call;
    const ladon_status status =
        prepare_memory(memory, static_cast<std::byte*>(cache), weights, workspace, Base::given(options), call);
    if (status != LADON_OK) return status;
    auto& stored = *static_cast<StoredMemory*>(cache);
    stored.clear(memory_mark);
    Kernel::project_memory(memory, call.weights, stored.content,
                           *static_cast<typename Kernel::MemoryWorkspace*>(workspace), call.options);
    stored.length = call.memory_keys;
    return status;
  }

 private:
  using typename Base::Prepared;
  using StoredMemory = StoredCache<std::conditional_t<(Settings::memory > 0), ProjectedMemory<Kernel>, Kernel>>;
  // The mark of a cache that project_memory has filled. The mark differs from the mark of a text's cache.
  static constexpr std::uint32_t memory_mark = Settings::cache_mark + 8;
  struct Given {
    const float* x;
    void* cache;
    const void* memory;  // the cache of a decoder's memory
    const W* weights;
    float* y;
    void* workspace;
    std::size_t workspace_bytes;
    std::size_t phase = 0, share = 0;
    // The number of tokens before the call. The last phase changes `length`, so phases after phase 0 read `past`.
    std::size_t past() const { return phase == 0 ? stored().length : stored().past; }
    Stored& stored() const { return *static_cast<Stored*>(cache); }
    const StoredMemory& stored_memory() const { return *static_cast<const StoredMemory*>(memory); }
  };

  static LADON_NOINLINE ladon_status prepare(const Given& given, const O& options, Prepared& call) {
    typename Prepared::Checked check;
    check.expect(given.x != nullptr, LADON_NULL_INPUT);
    check.expect(given.y != nullptr, LADON_NULL_OUTPUT);
    check.aligned(given.workspace, LADON_NULL_WORKSPACE);
    check.aligned(given.cache, LADON_NULL_WORKSPACE);
    if constexpr (Prepared::has_memory) check.aligned(given.memory, LADON_NULL_WORKSPACE);
    call.take_lengths(check, options);
    if (!check.ok()) return check.status();

    const std::size_t tokens = call.lengths.queries;
    check.expect(tokens <= shape.keys, LADON_LENGTH_BEYOND_SHAPE);
    check_cache(given, tokens, check);
    if constexpr (Prepared::has_memory) take_memory(given, options, call, check);
    check.writes(given.y, tokens * shape.model);
    check.writes(static_cast<const std::byte*>(given.workspace), given.workspace_bytes);
    check.writes(static_cast<const std::byte*>(given.cache), bytes.cache);
    Prepared::attention(check, options);
    check.reads_x(given.x, tokens * shape.model);
    if constexpr (Prepared::has_memory) check.reads(static_cast<const std::byte*>(given.memory), bytes.memory_cache);
    call.take_options(check, options);
    call.take_weights(check, given.weights);
    Prepared::positions(check, options, static_cast<std::ptrdiff_t>(given.past()), tokens);
    return check.status();
  }

  // Checks that this variant of the kernel can use the cache of the text in this phase, and that the cache has room for
  // `tokens` more tokens.
  static void check_cache(const Given& given, std::size_t tokens, typename Prepared::Checked& check) {
    const Stored& stored = given.stored();
    if (given.phase == 0) {
      check.expect(Base::usable(stored), LADON_CACHE_NOT_CLEARED);
    } else {
      check.expect(is_next(stored, given.phase, given.share), LADON_PHASE_OUT_OF_ORDER);
    }
    check.expect(Stored::ring || given.past() <= shape.keys - tokens, LADON_CACHE_FULL);
  }

  static constexpr std::uint32_t ticket(std::size_t phase) {
    return Settings::cache_mark + 16 * static_cast<std::uint32_t>(phase);
  }
  // Returns whether share 0 of the previous phase was the last to change the cache. Share 0 must not compute a phase
  // twice. In the last phase, only share 0 may read `length`, because share 0 changes it.
  static bool is_next(const Stored& stored, std::size_t phase, std::size_t share) {
    if (stored.next_phase[phase % 2] != ticket(phase)) return false;
    if (phase + 1 < Kernel::phases || share == 0) {
      if (stored.length != stored.past) return false;
    }
    return share > 0 || stored.next_phase[(phase + 1) % 2] != ticket(phase + 1);
  }

  // Checks that project_memory has filled the cache of a decoder's memory. If options.memory.keys is 0, sets the number
  // of active tokens of the memory to the number of tokens in this cache.
  static void take_memory(const Given& given, const O& options, Prepared& call, typename Prepared::Checked& check) {
    const StoredMemory& stored = given.stored_memory();
    check.expect(stored.mark == memory_mark, LADON_CACHE_NOT_CLEARED);
    if (options.memory.keys == 0) call.options.memory.keys = call.memory_keys = stored.length;
    check.expect(call.memory_keys <= stored.length, LADON_LENGTH_BEYOND_SHAPE);
  }

  static LADON_NOINLINE ladon_status prepare_memory(const float* memory, const std::byte* cache, const W* weights,
                                                    const void* workspace, const O& options, Prepared& call) {
    typename Prepared::Checked check;
    check.expect(memory != nullptr, LADON_NULL_INPUT);
    check.aligned(workspace, LADON_NULL_WORKSPACE);
    check.aligned(cache, LADON_NULL_WORKSPACE);
    call.take_lengths(check, options);
    if (!check.ok()) return check.status();
    check.writes(static_cast<const std::byte*>(workspace), bytes.workspace);
    check.writes(cache, bytes.memory_cache);
    check.reads(memory, call.memory_keys * shape.model);
    call.take_weights(check, weights);
    return check.status();
  }

  template <class... To>
  static LADON_NOINLINE void compute(const Given& given, const Prepared& call, To&&... to) {
    Stored& stored = given.stored();
    Base::open(stored);
    auto& workspace = *static_cast<Workspace*>(given.workspace);
    if constexpr (Prepared::has_memory) {
      Kernel::extend(given.x, stored.content, given.stored_memory().content, call.weights, given.y, workspace,
                     call.options, to...);
    } else {
      Kernel::extend(given.x, stored.content, call.weights, given.y, workspace, call.options, to...);
    }
    stored.length += call.lengths.queries;
  }

  template <class... To>
  static LADON_NOINLINE void compute_share(std::size_t phase, ladon::Share share, const Given& given,
                                           const Prepared& call, To&&... to) {
    Stored& stored = given.stored();
    if (phase == 0 && share.index == 0) {
      if (!Base::filled(stored)) stored.clear_content();
      stored.remove_unfinished();
      stored.past = stored.length;
      stored.next_phase[0] = 0;  // the ticket of an earlier call
    }
    auto* const memory = static_cast<std::byte*>(given.workspace);
    auto& shared = *reinterpret_cast<Shared*>(memory);
    auto& scratch = *reinterpret_cast<Scratch*>(memory + sizeof(Shared) + share.index * sizeof(Scratch));
    const ladon::Part<Shared, Scratch> part{phase, share, shared, scratch};
    if constexpr (Prepared::has_memory) {
      Kernel::extend(given.x, stored.content, given.stored_memory().content, call.weights, given.y, part, call.options,
                     to...);
    } else {
      Kernel::extend(given.x, stored.content, call.weights, given.y, part, call.options, to...);
    }
    if (share.index != 0) return;
    stored.next_phase[(phase + 1) % 2] = ticket(phase + 1);
    if (phase + 1 == Kernel::phases) {
      stored.mark = Settings::cache_mark;
      stored.length += call.lengths.queries;
    }
  }
};

}  // namespace c_kernel::inline LADON_ABI
