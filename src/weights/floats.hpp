// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace ladon::weights {

// Returns the number of bytes of a value: 4 for F32, 2 for F16 and BF16, and 0 for any other dtype.
std::size_t bytes_of_float(std::string_view dtype);

// Appends the values of a file as float32, in the byte order of this machine. The conversion is exact, because a
// float32 can hold every value of F16 (IEEE 754 binary16) and BF16 (the upper half of binary32). F32 values keep their
// bits, and a NaN keeps its payload.
void append_floats(std::string_view dtype, std::span<const std::byte> values, std::string& to);

// Like append_floats, but writes the values to `to`, which has room for all of them.
void read_floats(std::string_view dtype, std::span<const std::byte> values, std::span<float> to);

// Returns the bits of the float32 that has the value of the binary16 `half`.
std::uint32_t widen_f16(std::uint16_t half);

// The largest float32 that rounds to a finite bfloat16. The next float32 is halfway between the largest bfloat16 and
// 2^128. The halfway value rounds to infinity, because the last bit of the largest bfloat16 is 1.
inline constexpr float largest_for_bfloat16 = 0x1.fefffep127f;

// Checks that all `values` are finite, and that no magnitude is above `most`, the largest magnitude that stays finite
// in the target type. Returns the text of the error, or "" if there is no error. For this text, `row` and
// `first_column` are the position of the first value in the whole tensor.
std::string finite_complaint(std::span<const float> values, std::size_t row, std::size_t first_column,
                             float most = std::numeric_limits<float>::max());

}  // namespace ladon::weights
