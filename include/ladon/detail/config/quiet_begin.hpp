// SPDX-License-Identifier: Apache-2.0
// Each public header begins with this file and ends with quiet_end.hpp. In between, two warnings of a program are off:
// -Wfloat-equal, because equality is meant, and -Wshadow, because a global variable of the program may have any name.
// Ladon's own tests define LADON_WARNS_OF_SHADOWS.
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
#if !defined(LADON_WARNS_OF_SHADOWS)
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#if defined(__AVX512F__) && !defined(__clang__) && __GNUC__ < 13
// g++ warns of variables in its own intrinsics (https://gcc.gnu.org/PR105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif
// Undoes a pragma of the program that allows imprecise arithmetic: kernels need NaN and infinity.
#if defined(__clang__) && defined(__x86_64__)
#pragma float_control(push)
#pragma float_control(precise, on)
#endif
