// SPDX-License-Identifier: Apache-2.0
// Includes the micro-kernel's loops in assembly. LADON_TILE_ASSEMBLY is defined if the target has a loop.
// `assembly::has_loop` is true for the tiles that the loop can compute.
#pragma once

#include <ladon/detail/cortex_m/helium_float.hpp>
#include <ladon/detail/cortex_m/vfp.hpp>
