// SPDX-License-Identifier: Apache-2.0
// All int8 products of this folder.
#pragma once

#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/dot_arm64.hpp>
#include <ladon/detail/vec/dot_vnni.hpp>
#include <ladon/detail/vec/dot_wasm.hpp>
#include <ladon/detail/vec/dot_x86.hpp>
