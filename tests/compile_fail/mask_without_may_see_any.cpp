// must print: bound.may_see_any(queries, keys)
// must print: BoundIncomplete
#include "complete_mask.hpp"

struct BoundIncomplete : BoundComplete<> {
  void may_see_any() const;  // hides BoundComplete::may_see_any
};

using Attention = MaskedAttention<BoundIncomplete>;
