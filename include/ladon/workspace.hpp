// The caller's scratch memory: every field with its shape. A workspace holds nothing between two runs, and nothing need
// be put into it before; sizeof says what is needed, and `static constinit Workspace w{};` costs no start-up.
#pragma once

#include <cstddef>

#include <ladon/panels.hpp>

namespace ladon::inline LADON_ABI {

// What the heads need one after the other: private to a thread.
template <Shape S, class Target>
struct HeadScratch {
  using L = kernel::PanelLayout<S, Target>;
  Panels<S.keys, S.head_width, L::keys> keys;                  // K^T of one head
  Panels<S.keys, S.value_width, L::keys> values;               // V^T of one head
  Panels<L::queries.width(), S.head_width, L::queries> query;  // Q^T of one head and one panel of queries
  Panels<L::queries.width(), L::block, L::queries> scores;     // S^T, then P^T, of one block of keys
};

// Attention of given queries, keys and values: O^T of one panel of queries beside it.
template <Shape S, class Target>
struct AttentionWorkspace {
  using L = kernel::PanelLayout<S, Target>;
  HeadScratch<S, Target> scratch;
  Panels<L::queries.width(), S.value_width, L::queries> out;
};

// Self-attention: x in panels, and what the heads say of it. EncoderWorkspace (encoder_layer.hpp) adds to this.
template <Shape S, class Target>
struct SelfWorkspace {
  using L = kernel::PanelLayout<S, Target>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
  HeadScratch<S, Target> scratch;
};

// Keys from elsewhere: the context in panels beside it.
template <Shape S, class Target>
struct CrossWorkspace {
  using L = kernel::PanelLayout<S, Target>;
  SelfWorkspace<S, Target> queries;
  Panels<S.keys, S.model, L::keys> context;
};

}  // namespace ladon::inline LADON_ABI
