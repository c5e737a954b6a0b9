// Compiles Ladon as MSVC compiles it: without the macros, builtins, attributes and assembly of g++ and clang++. The
// headers of the system and of xsimd come first, because they are not MSVC's. The flags of the command line replace
// /arch of MSVC. The program computes attention, and ends with the number of wrong results. With CLANG_CL, compiles
// Ladon as clang-cl compiles it, which defines no __GNUC__.
#include <immintrin.h>
#include <math.h>
#include <stdio.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <utility>
#include <xsimd/xsimd.hpp>

#undef __GNUC__
#if !defined(CLANG_CL)
#undef __clang__
#undef __OPTIMIZE__
#undef __has_feature
#undef __x86_64__
#undef __SSE__
#undef __SSE2__
#undef __SSE3__
#undef __SSSE3__
#undef __SSE4_1__
#undef __SSE4_2__
#undef __FMA__
#undef __AVX512VNNI__
#undef __AVX512BF16__
#undef __AVXVNNI__
#define _MSC_VER 1940
#define _M_X64 100
#pragma GCC poison asm __asm__ __attribute__
#pragma GCC poison __builtin_fma __builtin_fmaf __builtin_sqrtf __builtin_memcpy __builtin_prefetch __builtin_expect
#pragma GCC poison __builtin_shufflevector __builtin_convertvector __builtin_unreachable __builtin_trap
#endif

#include "all_classes.hpp"

#define PART wrong_numbers
#include "part.cpp"

int main() { return wrong_numbers(); }
