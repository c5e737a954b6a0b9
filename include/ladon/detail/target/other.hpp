// All other processors, such as RISC-V: packs of one float. Nothing was measured.
#pragma once

#include <ladon/detail/target/defaults.hpp>

#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

using Current = Defaults;

}  // namespace ladon::inline LADON_ABI::detail::target
