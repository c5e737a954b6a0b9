// Any other processor, such as RISC-V: plain floats, and nothing measured.
#pragma once

#include <ladon/detail/target/defaults.hpp>

#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

using Current = Defaults;

}  // namespace ladon::inline LADON_ABI::detail::target
