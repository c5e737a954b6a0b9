// SPDX-License-Identifier: Apache-2.0
// LADON_EXPECTS checks a precondition on values that are known only at run time. The compiler cannot check such a
// precondition.
//
// LADON_CHECKED selects whether the build is checked (detail/build/abi.hpp). In a checked build, a broken precondition
// ends the program. LADON_EXPECTS prints the caller's file and line, the message and the values, and calls abort. If a
// precondition is broken during constant evaluation in a checked build, compilation fails. In an unchecked build,
// LADON_EXPECTS generates no code, and a broken precondition is undefined behaviour.
//     LADON_EXPECTS(condition, message)
//     LADON_EXPECTS(condition, message, caller)
//     LADON_EXPECTS(condition, message, caller, {{"name", value}, {"another name", another_value}})
#pragma once

#include <ladon/detail/build/precondition.hpp>

#if LADON_CHECKED
#define LADON_EXPECTS(condition, message, ...) \
  ((condition) ? static_cast<void>(0)          \
               : ::ladon::detail::broken_precondition(__FILE__, __LINE__, message __VA_OPT__(, ) __VA_ARGS__))
#else
#define LADON_EXPECTS(condition, message, ...) static_cast<void>(0)
#endif
