// must print: ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents
// must print: 3 == 2
#include <ladon/ladon.hpp>

struct WithSinks : ladon::score::Scaled {
  static constexpr bool sinks = true;
};
using Attention =
    ladon::Attention<ladon::Shape{.queries = 5, .model = 6, .heads = 2}, ladon::mask::Unmasked, WithSinks>;
// A sink for each of the 2 heads is needed, but the array has 3 elements.
extern const float sinks[3];
Attention::Options options{.sinks = sinks};
