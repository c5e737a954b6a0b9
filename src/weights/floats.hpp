// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace ladon::weights {

// The bytes of a value: 4 of F32, 2 of F16 and BF16, 0 where the dtype is none that is widened here.
std::size_t bytes_of_float(std::string_view dtype);

// Appends the values as float32, little-endian. Each is exact: F32's own bits, and what F16 (IEEE 754 binary16) and
// BF16 (binary32's upper half) hold is a float32 as well, NaNs with their payload.
void append_floats(std::string_view dtype, std::span<const std::byte> values, std::string& to);

// Like append_floats, but writes the values to `to`, which has room for all of them.
void read_floats(std::string_view dtype, std::span<const std::byte> values, std::span<float> to);

// The float32 of the same value, by its bits.
std::uint32_t widen_f16(std::uint16_t half);

// The largest float32 that rounds to a finite bfloat16, one step below halfway to 2^128. Halfway rounds to infinity,
// because the last bit of the largest bfloat16 is 1.
inline constexpr float largest_for_bfloat16 = 0x1.fefffep127f;

// Expects that the values of a part of a row are finite, and that no magnitude is above `most`, the largest that stays
// finite in the type that the values will get. Returns what is wrong, or "" if nothing is. `first_column` is the column
// of the first value.
std::string finite_complaint(std::span<const float> values, std::size_t row, std::size_t first_column,
                             float most = std::numeric_limits<float>::max());

}  // namespace ladon::weights
