// SPDX-License-Identifier: Apache-2.0
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
