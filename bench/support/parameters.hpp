// Random weights and inputs, equal in every run.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace ladon_bench {

inline std::vector<float> random_numbers(std::size_t count, float deviation) {
  static std::mt19937 generator(20260101);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(generator);
  return numbers;
}

// Random parameters of a linear map, as at the start of training: the outputs have about the variance of the inputs.
struct Parameters {
  std::vector<float> weight, bias;
  Parameters(std::size_t out, std::size_t in)
      : weight(random_numbers(out * in, 1 / std::sqrt(static_cast<float>(in)))), bias(random_numbers(out, 0.1f)) {}
};

}  // namespace ladon_bench
