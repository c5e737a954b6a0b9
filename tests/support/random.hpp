// Generates random numbers that are equal on all platforms. The distributions of the C++ standard library differ
// between platforms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ladon_test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  // Returns the next number of the generator splitmix64 (Steele, Lea and Flood, 2014).
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Returns an approximately normal number with the given standard deviation. The sum of twelve uniform numbers has a
  // variance of 1.
  float normal(double deviation = 1) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return static_cast<float>(sum * deviation);
  }
  std::vector<float> normals(std::size_t count, double deviation = 1, double mean = 0) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(mean + normal(deviation));
    return values;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ladon_test
