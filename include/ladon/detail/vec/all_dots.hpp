// SPDX-License-Identifier: Apache-2.0
// The dots of all elements and targets.
#pragma once

#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/dot_arm64.hpp>
#include <ladon/detail/vec/dot_bfloat16.hpp>
#include <ladon/detail/vec/dot_wasm.hpp>
#include <ladon/detail/vec/dot_x86.hpp>
