// SPDX-License-Identifier: Apache-2.0
// Lists the types of options and tensors, with their names in the C header and in the description of a WebAssembly
// module.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace c_kernel::inline LADON_ABI {

// The type of an option or a tensor. `name` is its name in the description of a WebAssembly module. `c_type` is its
// type in C: a number, or a pointer to the first element of an array. `is_output` is true if the kernel writes the
// array.
struct Type {
  std::string_view name;
  std::string_view c_type;
  bool is_output = false;
};
inline constexpr Type size_type{"size", "size_t "};
inline constexpr Type offset_type{"offset", "ptrdiff_t "};
inline constexpr Type number_type{"number", "float "};
inline constexpr Type uint8_type{"uint8", "const uint8_t *"};
inline constexpr Type uint32_type{"uint32", "const uint32_t *"};
inline constexpr Type bfloat16_type{"bfloat16", "const uint16_t *"};
inline constexpr Type int8_type{"int8", "const int8_t *"};
inline constexpr Type int4_type{"int4", "const uint8_t *"};  // a byte has two weights
inline constexpr Type int32_type{"int32", "const int32_t *"};
inline constexpr Type float32_type{"float32", "const float *"};
inline constexpr Type float32_output_type{"float32", "float *", true};
inline constexpr Type rotary_table_type{"rotary_table", "const @name@_rotary_table *"};
inline constexpr Type isa_type{"isa", "ladon_isa "};

// The extents of an array of at most three dimensions. Unused extents are 0. An option that is not an array has only
// unused extents.
using Extents = std::array<std::size_t, 3>;
// The names of the axes of an array, such as {"heads", "queries", "keys"}. A call with n queries uses only the first n
// elements along the axis "queries". A call with n keys uses only the first n elements along the axis "keys". Along
// every other axis, a call uses all elements.
using Axes = std::array<std::string_view, 3>;

}  // namespace c_kernel::inline LADON_ABI
