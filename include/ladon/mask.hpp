// SPDX-License-Identifier: Apache-2.0
// Includes all masks. A mask says which keys a query sees, and may add a number to scores. `a & b` combines two masks.
#pragma once

#include <ladon/mask/additive.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/mask/relative.hpp>
#include <ladon/mask/table.hpp>
