// The caller's scratch memory: every field with its shape. A workspace holds nothing between two calls and needs no
// initialisation. sizeof says how much memory a call needs, and `static constinit Workspace w{};` has no start-up cost.
// Most workspaces have two halves: `shared`, which all threads of a call see, and `scratch`, one for each thread.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/panels.hpp>

namespace ladon::inline LADON_ABI {

// The workspace of a call by one thread ...
template <class Shared, class Scratch>
struct Workspace {
  Shared shared;
  Scratch scratch;
};
// ... and of a call by several threads.
template <class Shared, class Scratch, std::size_t Threads>
struct TeamWorkspace {
  static_assert(Threads > 0, "ladon: a call needs at least one thread");
  Shared shared;
  Scratch scratch[Threads];
};

// Memory that the heads use one after the other.
template <Shape S, class Target>
struct HeadScratch {
  using L = detail::PanelLayout<S, Target>;
  Panels<S.keys, S.head_width, L::keys> keys;                  // K^T of one head
  Panels<S.keys, S.value_width, L::keys> values;               // V^T of one head
  Panels<L::queries.width(), S.head_width, L::queries> query;  // Q^T of one head and one panel of queries
  Panels<L::queries.width(), L::block, L::queries> scores;     // S^T, then P^T, of one block of keys
};

// The same for attention to a cache, which has the keys and values.
template <Shape S, class Target>
struct CachedScratch {
  using L = detail::PanelLayout<S, Target>;
  static constexpr std::size_t widest = S.head_width > S.value_width ? S.head_width : S.value_width;
  Panels<L::queries.width(), widest, L::queries>
      projected;  // new K^T or V^T of one head, before it goes into the cache
  Panels<L::queries.width(), S.head_width, L::queries> query;  // Q^T of one head and one panel of queries
  Panels<L::queries.width(), L::block, L::queries> scores;     // S^T, then P^T, of one block of keys
};

// Attention without projections: also O^T of one panel of queries.
template <Shape S, class Target>
struct AttentionWorkspace {
  using L = detail::PanelLayout<S, Target>;
  HeadScratch<S, Target> scratch;
  Panels<L::queries.width(), S.value_width, L::queries> out;
};

// Self-attention: x in panels, and the concatenated heads.
template <Shape S, class Target>
struct SelfShared {
  using L = detail::PanelLayout<S, Target>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
};

// Attention to a context: also the context in panels.
template <Shape S, class Target>
struct CrossShared {
  using L = detail::PanelLayout<S, Target>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
  Panels<S.keys, S.key_model, L::keys> context;
};

// The tokens that keys are projected from, and then those that values are projected from.
template <Shape S, class Target>
struct KeyWorkspace {
  Panels<S.keys, (S.key_model > S.value_model ? S.key_model : S.value_model), detail::PanelLayout<S, Target>::keys>
      context;
};

}  // namespace ladon::inline LADON_ABI
