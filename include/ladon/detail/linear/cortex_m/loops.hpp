// The micro-kernel's loops in assembly, for microcontrollers. A target has at most one of the two. LADON_TILE_ASSEMBLY
// is defined where there is one, and `assembly::has_loop` names the tiles that it computes.
#pragma once

#include <ladon/detail/linear/cortex_m/helium_loop.hpp>
#include <ladon/detail/linear/cortex_m/vfp_loop.hpp>
