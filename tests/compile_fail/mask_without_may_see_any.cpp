// must print: bound.may_see_any(queries, keys)
// must print: BoundIncomplete
// later error: the compiler prints the concept mask::Policy first
#include "complete_mask.hpp"

struct BoundIncomplete : BoundComplete<> {
  void may_see_any() const;  // hides BoundComplete::may_see_any
};

using Attention = MaskedAttention<BoundIncomplete>;
