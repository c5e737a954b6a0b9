// must print: add(v, key, score)
// must print: BoundComplete<Lanes>
// later error: the compiler prints the concept mask::Policy first
#include "complete_mask.hpp"

template <class Pack>
struct Lanes : CompleteLanes<Pack> {
  void add() const;  // hides CompleteLanes::add
};

using Attention = MaskedAttention<BoundComplete<Lanes>>;
