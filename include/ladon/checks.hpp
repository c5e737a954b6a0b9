// SPDX-License-Identifier: Apache-2.0
// LADON_EXPECTS checks a precondition that the compiler cannot check. In a checked build (LADON_CHECKED), a broken
// precondition does not compile in a constant expression. At run time, it prints the caller's file and line, the
// message and the values, and ends the program. In an unchecked build, it is undefined behaviour.
//     LADON_EXPECTS(condition, message)
//     LADON_EXPECTS(condition, message, caller, {{"name", value}, {"another name", another_value}})
#pragma once

#include <ladon/detail/config/errors.hpp>

#if LADON_CHECKED
#define LADON_EXPECTS(condition, message, ...) \
  ((condition) ? static_cast<void>(0)          \
               : ::ladon::detail::broken_precondition(__FILE__, __LINE__, message __VA_OPT__(, ) __VA_ARGS__))
#else
#define LADON_EXPECTS(condition, message, ...) static_cast<void>(0)
#endif
