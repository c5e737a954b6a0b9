// The step of int8 products (group_dot.hpp) for every type of features and every pack.
#pragma once

#include <ladon/detail/simd/group_dot.hpp>
#include <ladon/detail/simd/neon_dot.hpp>
#include <ladon/detail/simd/pair_dot.hpp>
#include <ladon/detail/simd/quad_dot.hpp>
