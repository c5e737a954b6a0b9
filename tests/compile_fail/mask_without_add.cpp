// must print: lanes.add(v, key, score)
// must print: Lanes<
#include "complete_mask.hpp"

template <class Pack>
struct Lanes : CompleteLanes<Pack> {
  void add() const;  // hides CompleteLanes::add
};

using Attention = MaskedAttention<BoundComplete<Lanes>>;
