// All masks. A mask determines which query may see which key, and may add a number to the scores of visible keys. `a &
// b` combines any two masks.
#pragma once

#include <ladon/mask/additive.hpp>
#include <ladon/mask/bits.hpp>
#include <ladon/mask/padding.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/mask/window.hpp>
