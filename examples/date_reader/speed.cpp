#include "speed.hpp"

#include <algorithm>
#include <vector>

#include "../../bench/support/fma_peak.hpp"

namespace date_reader {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

// Returns the sum of the flops of all layers. T is the number of tokens (the text and 8 slots), D the model width, and
// F the feed-forward width. Q is the number of queries: only the slots in the last layer, and all tokens in every
// earlier layer. A multiply-add counts as two flops, so a layer has these flops:
//     4 T D D  projections of keys and values
//     4 Q D D  projection of queries, and output projection
//     4 Q T D  scores, and weighted sums of values
//     4 Q D F  feed-forward network
double needed_flops(std::size_t characters) {
  constexpr double d = shape.model, f = feed_forward;
  const double t = static_cast<double>(slots + characters);
  double flops = 0;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const double q = layer + 1 < layers ? t : static_cast<double>(slots);
    flops += 4 * t * d * d + 4 * q * d * d + 4 * q * t * d + 4 * q * d * f;
  }
  return flops;
}

// Measures the time of a reading and the FMA peak in rounds. Each round measures the peak before and after the readings
// of the round. The clock frequency changes between rounds, but rarely within a round, so the share of the peak is
// computed for each round. The results are medians over the rounds.
Speed measure(std::string_view text, const Model& model) {
  constexpr std::size_t most_rounds = 401, least_rounds = 5, readings = 4;
  constexpr double enough_seconds = 0.1;
  const double flops = needed_flops(model.read(text, nullptr).text.size);
  std::vector<double> times, peaks, shares;
  const double start = ladon::bench::now();
  while (times.size() < least_rounds || (times.size() < most_rounds && ladon::bench::now() - start < enough_seconds)) {
    const double before = ladon::bench::fma_peak();
    const double first = ladon::bench::now();
    for (std::size_t i = 0; i < readings; ++i) model.read(text, nullptr);
    times.push_back((ladon::bench::now() - first) / static_cast<double>(readings));
    peaks.push_back((before + ladon::bench::fma_peak()) / 2);
    shares.push_back(flops / times.back() * 1e-9 / peaks.back());
  }
  const double seconds = median(times);
  return {seconds * 1e6, flops / seconds * 1e-9, median(peaks), median(shares), times.size() * readings};
}

}  // namespace date_reader
