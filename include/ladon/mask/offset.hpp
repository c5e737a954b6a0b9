// The offset of masks that depend on positions: query i stands at key i + offset.
#pragma once

#include <ladon/detail/mask/placement.hpp>

namespace ladon::inline LADON_ABI::mask {

// The default of every `offset`. Without a cache, default_offset means keys - queries of the shape: the shape's last
// query stands at its last key, whatever the active lengths. With a cache, default_offset means the number of tokens
// before the call.
using detail::default_offset;

}  // namespace ladon::inline LADON_ABI::mask
