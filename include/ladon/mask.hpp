// SPDX-License-Identifier: Apache-2.0
// Includes all masks. A mask determines which keys each query may see. Some masks also add a number to the scores of
// visible keys. The expression `a & b` combines two masks (mask/both.hpp).
#pragma once

#include <ladon/mask/additive.hpp>
#include <ladon/mask/alibi.hpp>
#include <ladon/mask/both.hpp>
#include <ladon/mask/padding.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/mask/table.hpp>
