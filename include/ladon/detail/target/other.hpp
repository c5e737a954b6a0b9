// All other processors, such as RISC-V: a pack is a single float. The constants were not measured on these processors.
#pragma once

#include <ladon/detail/target/defaults.hpp>

#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

using Current = Defaults;

}  // namespace ladon::inline LADON_ABI::detail::target
