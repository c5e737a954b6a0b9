// Masks: which query may see which key, and what is added to the scores it does not hide. `a & b` combines any two.
#pragma once

#include <ladon/mask/additive.hpp>
#include <ladon/mask/bits.hpp>
#include <ladon/mask/padding.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/mask/window.hpp>
