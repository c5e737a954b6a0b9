// The caller's scratch memory: every field with its shape. A workspace holds nothing between two runs, and nothing need
// be put into it before; sizeof says what is needed, and `static constinit Workspace w{};` costs no start-up. Most have
// two halves: what all threads of a call see, and what each needs for itself.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/panels.hpp>

namespace ladon::inline LADON_ABI {

// For a call that one thread runs ...
template <class Shared, class Scratch>
struct Workspace {
  Shared shared;
  Scratch scratch;
};
// ... and for one that several share.
template <class Shared, class Scratch, std::size_t Threads>
struct TeamWorkspace {
  static_assert(Threads > 0, "ladon: a call needs at least one thread");
  Shared shared;
  Scratch scratch[Threads];
};

// What the heads need one after the other.
template <Shape S, class Target>
struct HeadScratch {
  using L = detail::PanelLayout<S, Target>;
  Panels<S.keys, S.head_width, L::keys> keys;                  // K^T of one head
  Panels<S.keys, S.value_width, L::keys> values;               // V^T of one head
  Panels<L::queries.width(), S.head_width, L::queries> query;  // Q^T of one head and one panel of queries
  Panels<L::queries.width(), L::block, L::queries> scores;     // S^T, then P^T, of one block of keys
};

// The same where keys and values are kept in a cache.
template <Shape S, class Target>
struct CachedScratch {
  using L = detail::PanelLayout<S, Target>;
  static constexpr std::size_t widest = S.head_width > S.value_width ? S.head_width : S.value_width;
  Panels<L::queries.width(), widest, L::queries> projected;    // new K^T or V^T of one head, on its way to the cache
  Panels<L::queries.width(), S.head_width, L::queries> query;  // Q^T of one head and one panel of queries
  Panels<L::queries.width(), L::block, L::queries> scores;     // S^T, then P^T, of one block of keys
};

// Attention of given queries, keys and values: O^T of one panel of queries beside it.
template <Shape S, class Target>
struct AttentionWorkspace {
  using L = detail::PanelLayout<S, Target>;
  HeadScratch<S, Target> scratch;
  Panels<L::queries.width(), S.value_width, L::queries> out;
};

// Self-attention: x in panels, and what the heads say of it.
template <Shape S, class Target>
struct SelfShared {
  using L = detail::PanelLayout<S, Target>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
};

// Keys from elsewhere: the context in panels beside it.
template <Shape S, class Target>
struct CrossShared {
  using L = detail::PanelLayout<S, Target>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
  Panels<S.keys, S.key_model, L::keys> context;
};

// What keys and values are projected from, one after the other.
template <Shape S, class Target>
struct KeyWorkspace {
  Panels<S.keys, (S.key_model > S.value_model ? S.key_model : S.value_model), detail::PanelLayout<S, Target>::keys>
      context;
};

}  // namespace ladon::inline LADON_ABI
