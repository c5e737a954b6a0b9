// Rotary position embedding (RoPE, arXiv 2104.09864): pairs of a head's features are turned by an angle that grows with
// the token's position, in queries and keys alike, so that their product knows the distance between them.
//
//     angle(position, pair) = position / scaling * base^(-2 pair / width)
#pragma once

#include <cstddef>

#include <ladon/simd/compiler.hpp>

namespace ladon::inline LADON_ABI {

struct NoRotary {
  struct Data {};
  static constexpr bool turns = false;
};

}  // namespace ladon::inline LADON_ABI
