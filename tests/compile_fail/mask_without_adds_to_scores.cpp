// must print: std::bool_constant<BoundMask::adds_to_scores>
#include "complete_mask.hpp"

struct BoundIncomplete : BoundComplete<> {
  void adds_to_scores();  // hides BoundComplete::adds_to_scores
};

using Attention = MaskedAttention<BoundIncomplete>;
