// What reading a text costs on this machine.
#pragma once

#include <cstddef>
#include <string_view>

#include "model.hpp"

namespace date_reader {

struct Speed {
  double microseconds;  // from text to date: the median
  double gflops;        // needed flops of the encoder in that time
  double peak_gflops;   // multiply-adds of one core, measured between the readings
  double share_of_peak;
  std::size_t readings;
};

// Takes about a tenth of a second.
Speed measure(std::string_view text, const Model& model);

// Flops that the encoder needs for a text of so many characters.
double needed_flops(std::size_t characters);

}  // namespace date_reader
