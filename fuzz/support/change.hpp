// Scales the random inputs and weights of a fuzzer, and overwrites up to three values of each array with special
// numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>

#include <fuzzer/FuzzedDataProvider.h>

namespace ladon_fuzz {

// States which special numbers `change` may write: `finite` allows only finite numbers, `nan` also NaN, and `all` also
// NaN and infinities.
enum class Specials { finite, nan, all };

// Multiplies all values by a power of two between 2^lowest and 2^highest. Overwrites up to three values with special
// numbers.
inline void change(std::span<float> values, FuzzedDataProvider& data, int lowest, int highest, Specials specials) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float numbers[] = {0,
                               -0.0f,
                               std::numeric_limits<float>::denorm_min(),
                               -std::numeric_limits<float>::min(),
                               1,
                               -1,
                               0x1p10f,
                               std::numeric_limits<float>::quiet_NaN(),
                               infinity,
                               -infinity};
  if (values.empty()) return;
  const int exponent = data.ConsumeIntegralInRange(lowest, highest);
  for (float& value : values) value = std::ldexp(value, exponent);
  const std::size_t beyond = specials == Specials::all ? 0 : specials == Specials::nan ? 2 : 3;
  const std::size_t most = std::size(numbers) - beyond - 1;
  for (int count = data.ConsumeIntegralInRange(0, 3); count > 0; --count) {
    const auto place = data.ConsumeIntegralInRange<std::size_t>(0, values.size() - 1);
    values[place] = numbers[data.ConsumeIntegralInRange<std::size_t>(0, most)];
  }
}

}  // namespace ladon_fuzz
