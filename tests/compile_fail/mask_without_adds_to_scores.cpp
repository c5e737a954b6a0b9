// must print: std::bool_constant<BoundMask::adds_to_scores>
// later error: the compiler prints the concept mask::Policy first
#include "complete_mask.hpp"

struct BoundIncomplete : BoundComplete<> {
  void adds_to_scores();  // hides BoundComplete::adds_to_scores
};

using Attention = MaskedAttention<BoundIncomplete>;
