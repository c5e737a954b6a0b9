// SPDX-License-Identifier: Apache-2.0
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
#if defined(__clang__) && defined(__x86_64__)
#pragma float_control(pop)
#endif
