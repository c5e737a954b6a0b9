#include "fft.hpp"

#include <type_traits>

// KissFFT is C, and the macro kiss_fft_scalar is its number type. KissFFT also compiles as C++, with the class Lanes as
// the number type. Fft provides the memory of KissFFT's state, so KissFFT never calls malloc.
#define kiss_fft_scalar keywords::Lanes
#define KISS_FFT_MALLOC(bytes) nullptr
#define KISS_FFT_FREE(pointer) static_cast<void>(pointer)
#if !defined(NDEBUG)
#define NDEBUG  // without NDEBUG, KissFFT prints messages
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#include <kiss_fft.c>
#include <kiss_fftr.c>
#pragma GCC diagnostic pop

namespace keywords {

static_assert(sizeof(Complex) == sizeof(kiss_fft_cpx) && alignof(Complex) == alignof(kiss_fft_cpx));

// KissFFT's state begins at state_ + offset, with a kiss_fftr_state. KissFFT stores numbers of type Lanes directly
// behind the kiss_fftr_state, and `offset` is chosen to align these numbers.
constexpr std::size_t offset =
    (sizeof(kiss_fftr_state) + alignof(Complex) - 1) / alignof(Complex) * alignof(Complex) - sizeof(kiss_fftr_state);

Fft::Fft() noexcept {
  // KissFFT computes the real DFT by a complex DFT of half the length, `points`. kiss_fftr_alloc needs memory for the
  // complex DFT, and for another 3/2 * `points` complex numbers.
  constexpr std::size_t points = fft_length / 2;
  static_assert(offset + sizeof(kiss_fftr_state) + sizeof(kiss_fft_state) +
                    (points - 1 + points * 3 / 2) * sizeof(kiss_fft_cpx) <=
                sizeof(state_));
  std::size_t size = sizeof(state_) - offset;
  kiss_fftr_alloc(fft_length, false, state_ + offset, &size);
}

void Fft::transform(const float* signal, Complex* spectrum) noexcept {
  kiss_fftr(reinterpret_cast<kiss_fftr_cfg>(state_ + offset), reinterpret_cast<const Lanes*>(signal),
            reinterpret_cast<kiss_fft_cpx*>(spectrum));
}

}  // namespace keywords
