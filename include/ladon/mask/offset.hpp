// SPDX-License-Identifier: Apache-2.0
// The offset of masks that depend on positions: query i has the position i + offset among the keys.
#pragma once

#include <ladon/detail/mask/placement.hpp>

namespace LADON_NAMESPACE::mask {

// The default of the member `offset` of a mask's data. In `extend`, default_offset means the number of tokens in the
// cache before the call. In every other function, default_offset means shape.keys - shape.queries, even if fewer tokens
// are active. The last query of the shape then has the position of the last key of the shape.
using detail::default_offset;

}  // namespace LADON_NAMESPACE::mask
