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
// xsimd 8.1 chooses avx512bw by default, but its logarithm does not compile for avx512bw. So Lanes uses avx512f.
using Lanes = xsimd::batch<float, xsimd::avx512f>;
#else
using Lanes = xsimd::batch<float>;
#endif
inline Lanes load(const float* from) noexcept { return Lanes::load_aligned(from); }
inline Lanes load_unaligned(const float* from) noexcept { return Lanes::load_unaligned(from); }
inline void store(Lanes x, float* to) noexcept { x.store_aligned(to); }
inline Lanes add_product(Lanes sum, Lanes a, Lanes b) noexcept { return xsimd::fma(a, b, sum); }
inline Lanes subtract_product(Lanes sum, Lanes a, Lanes b) noexcept { return xsimd::fnma(a, b, sum); }
inline Lanes logarithm(Lanes x) noexcept { return xsimd::log(x); }
inline Lanes larger(Lanes x, Lanes y) noexcept { return xsimd::max(x, y); }
inline Lanes square_root(Lanes x) noexcept { return xsimd::sqrt(x); }

// Transposes 4 x 4 floats: copies element i of row j to `to`[i * stride + j].
inline void transpose(const float* const (&rows)[4], float* to, std::size_t stride) noexcept {
  using Quad = xsimd::make_sized_batch_t<float, 4>;
  const Quad a = Quad::load_unaligned(rows[0]), b = Quad::load_unaligned(rows[1]);
  const Quad c = Quad::load_unaligned(rows[2]), d = Quad::load_unaligned(rows[3]);
  const Quad low_even = xsimd::zip_lo(a, c), low_odd = xsimd::zip_lo(b, d);
  const Quad high_even = xsimd::zip_hi(a, c), high_odd = xsimd::zip_hi(b, d);
  xsimd::zip_lo(low_even, low_odd).store_unaligned(to);
  xsimd::zip_hi(low_even, low_odd).store_unaligned(to + stride);
  xsimd::zip_lo(high_even, high_odd).store_unaligned(to + 2 * stride);
  xsimd::zip_hi(high_even, high_odd).store_unaligned(to + 3 * stride);
}
#else
using Lanes = float;
inline Lanes load(const float* from) noexcept { return *from; }
inline Lanes load_unaligned(const float* from) noexcept { return *from; }
inline void store(Lanes x, float* to) noexcept { *to = x; }
inline Lanes add_product(Lanes sum, Lanes a, Lanes b) noexcept { return sum + a * b; }
inline Lanes subtract_product(Lanes sum, Lanes a, Lanes b) noexcept { return sum - a * b; }
inline Lanes logarithm(Lanes x) noexcept { return std::log(x); }
inline Lanes larger(Lanes x, Lanes y) noexcept { return x < y ? y : x; }
inline Lanes square_root(Lanes x) noexcept { return std::sqrt(x); }
inline void transpose(const float* const (&rows)[4], float* to, std::size_t stride) noexcept {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) to[i * stride + j] = rows[j][i];
  }
}
#endif

inline constexpr std::size_t lane_count = sizeof(Lanes) / sizeof(float);

}  // namespace keywords
