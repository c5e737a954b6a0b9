// Measures the time of reading a text on this machine.
#pragma once

#include <cstddef>
#include <string_view>

#include "model.hpp"

namespace date_reader {

struct Speed {
  double microseconds;  // from text to date, the median
  double gflops;        // the encoder's flops divided by the median time
  double peak_gflops;   // FMA peak of one core, measured before and after the readings
  double share_of_peak;
  std::size_t readings;
};

// Measures how fast `model` reads `text`. The measurement takes about a tenth of a second.
Speed measure(std::string_view text, const Model& model);

// Returns the flops of the encoder for a text of `characters` characters.
double needed_flops(std::size_t characters);

}  // namespace date_reader
