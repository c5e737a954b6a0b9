// Defines Lanes, a vector register of floats. The front end computes several frames at a time, one frame in each lane.
#pragma once

#include <cmath>
#include <cstddef>

#if __has_include(<xsimd/xsimd.hpp>) && !defined(LADON_ARRAY_LANES) && !defined(__arm__) && !defined(__riscv)
// Disables a wrong warning: GCC 12 and older warn about an undefined operand in their own AVX-512 intrinsics (GCC bug
// 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <xsimd/xsimd.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

namespace keywords {

#if defined(XSIMD_VERSION_MAJOR) && !defined(XSIMD_NO_SUPPORTED_ARCHITECTURE)
#if XSIMD_WITH_AVX512F
// xsimd 8.1 chooses avx512bw by default, but the logarithm of xsimd does not compile for avx512bw. So Lanes uses
// avx512f.
using Lanes = xsimd::batch<float, xsimd::avx512f>;
#else
using Lanes = xsimd::batch<float>;
#endif
inline Lanes load(const float* from) noexcept { return Lanes::load_aligned(from); }
inline Lanes load_unaligned(const float* from) noexcept { return Lanes::load_unaligned(from); }
inline void store(Lanes x, float* to) noexcept { x.store_aligned(to); }
inline Lanes add_product(Lanes sum, Lanes a, Lanes b) noexcept { return xsimd::fma(a, b, sum); }
inline Lanes logarithm(Lanes x) noexcept { return xsimd::log(x); }
inline Lanes larger(Lanes x, Lanes y) noexcept { return xsimd::max(x, y); }
inline Lanes square_root(Lanes x) noexcept { return xsimd::sqrt(x); }
#else
using Lanes = float;
inline Lanes load(const float* from) noexcept { return *from; }
inline Lanes load_unaligned(const float* from) noexcept { return *from; }
inline void store(Lanes x, float* to) noexcept { *to = x; }
inline Lanes add_product(Lanes sum, Lanes a, Lanes b) noexcept { return sum + a * b; }
inline Lanes logarithm(Lanes x) noexcept { return std::log(x); }
inline Lanes larger(Lanes x, Lanes y) noexcept { return x < y ? y : x; }
inline Lanes square_root(Lanes x) noexcept { return std::sqrt(x); }
#endif

inline constexpr std::size_t lane_count = sizeof(Lanes) / sizeof(float);

}  // namespace keywords
