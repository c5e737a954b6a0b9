#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace keywords {
namespace {

constexpr double pi = std::numbers::pi, unit = std::numeric_limits<float>::epsilon() / 2;  // float32 rounding error
constexpr double floor_of_bands = 1e-12;

double mel_of(double hertz) { return 1127 * std::log(1 + hertz / 700); }

struct Spectrum {
  std::array<double, fft_length / 2 + 1> magnitude;
  double norm;  // the 2-norm of all fft_length bins
};

Spectrum spectrum_of(std::span<const float, frame_length> samples) {
  std::array<double, frame_length> windowed;
  double energy = 0;
  for (std::size_t i = 0; i < frame_length; ++i) {
    windowed[i] =
        (0.5 - 0.5 * std::cos(2 * pi * static_cast<double>(i) / frame_length)) * static_cast<double>(samples[i]);
    energy += windowed[i] * windowed[i];
  }
  Spectrum spectrum{.magnitude = {}, .norm = std::sqrt(energy * fft_length)};  // by Parseval's theorem
  for (std::size_t bin = 0; bin < spectrum.magnitude.size(); ++bin) {
    double real = 0, imaginary = 0;
    for (std::size_t i = 0; i < frame_length; ++i) {
      const double angle = 2 * pi * static_cast<double>(bin * i % fft_length) / fft_length;
      real += windowed[i] * std::cos(angle);
      imaginary -= windowed[i] * std::sin(angle);
    }
    spectrum.magnitude[bin] = std::hypot(real, imaginary);
  }
  return spectrum;
}

// Returns the weight of a DFT bin in a mel band: a triangle over the mel scale.
double weight_of(std::size_t band, std::size_t bin) {
  if (bin == 0) return 0;
  const double low = mel_of(20), step = (mel_of(7600) - low) / (mel_bands + 1);
  const double position = (mel_of(static_cast<double>(bin) * sample_rate / fft_length) - low) / step;
  return std::max(0.0, 1 - std::abs(position - static_cast<double>(band + 1)));
}

}  // namespace

// Computes the features in float64. Also computes bounds for the errors of the float32 front end. A unit of a number is
// 2^-24 times the number. Each step of an FFT adds at most 1 + 4 sqrt(2) units of the 2-norm of the spectrum (Higham,
// Accuracy and Stability of Numerical Algorithms, theorem 24.2). The FFT has log2(fft_length) = 9 steps. The bound
// counts 12 steps, because the conversion to the real FFT and the rounding by the window count as steps, and one step
// is a reserve. Computing the magnitudes and adding fewer than 16 products to a band causes an error of less than 32
// units of the band. The error of a logarithm is at most 4 units of the logarithm. The error of the DCT is at most
// mel_bands + 2 = 82 units of each term.
FrameOracle compute_oracle(std::span<const float, frame_length> samples) {
  const Spectrum spectrum = spectrum_of(samples);
  const double bin_error = 12 * (1 + 4 * std::numbers::sqrt2) * unit * spectrum.norm;
  FrameOracle oracle{};
  for (std::size_t n = 0; n < mel_bands; ++n) {
    double band = 0, error = 0;
    for (std::size_t bin = 0; bin < spectrum.magnitude.size(); ++bin) {
      band += weight_of(n, bin) * spectrum.magnitude[bin];
      error += weight_of(n, bin) * bin_error;
    }
    error += 32 * unit * band;
    const double least = std::max(band - error, floor_of_bands), most = std::max(band + error, floor_of_bands);
    oracle.log_bands[n] = std::log(std::max(band, floor_of_bands));
    oracle.log_band_bound[n] = std::log(most / least) + 4 * unit * std::abs(oracle.log_bands[n]);
  }
  for (std::size_t k = 0; k < coefficients; ++k) {
    for (std::size_t n = 0; n < mel_bands; ++n) {
      const double factor = std::sqrt(2.0 / mel_bands) *
                            std::cos(pi * static_cast<double>(k) * (static_cast<double>(n) + 0.5) / mel_bands);
      const double term = factor * oracle.log_bands[n];
      oracle.features[k] += term;
      oracle.feature_bound[k] += std::abs(factor) * oracle.log_band_bound[n] + (mel_bands + 2) * unit * std::abs(term);
    }
    oracle.feature_bound[k] += unit * std::abs(oracle.features[k]);
  }
  return oracle;
}

}  // namespace keywords
