# cmake -DWEIGHTS=<weights.safetensors> -DHEADER=<file.hpp> -P weights_header.cmake
#
# Writes the tensors of WEIGHTS as constexpr arrays into the C++ header HEADER. The weights are then part of a program
# that has no files. The name encoder.layers.0.self_attn.in_proj_weight becomes layer0_in_proj_weight.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../common/safetensors.cmake)

read_safetensors_header(json data ${WEIGHTS})
string(JSON alphabet GET "${json}" __metadata__ alphabet)
string(JSON sure_enough GET "${json}" __metadata__ sure_enough)

set(text "// Made from weights.safetensors by weights_header.cmake. Do not edit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace date_reader::weights {

inline constexpr char alphabet[] = \"${alphabet}\";

// A text is a date only if each of its digits has at least this probability.
inline constexpr float sure_enough = ${sure_enough}f;

// Returns floats from their bits.
template <std::size_t Size>
consteval std::array<float, Size> floats(const std::uint32_t (&bits)[Size]) {
  std::array<float, Size> values{};
  for (std::size_t i = 0; i < Size; ++i) values[i] = __builtin_bit_cast(float, bits[i]);
  return values;
}
")
string(JSON count LENGTH "${json}")
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON tensor MEMBER "${json}" ${i})
  if(tensor STREQUAL __metadata__)
    continue()
  endif()
  string(JSON type GET "${json}" ${tensor} dtype)
  if(NOT type STREQUAL F32)
    message(FATAL_ERROR "${WEIGHTS}: ${tensor} has the type ${type}, expected F32")
  endif()
  string(JSON begin GET "${json}" ${tensor} data_offsets 0)
  string(JSON end GET "${json}" ${tensor} data_offsets 1)
  math(EXPR offset "${data} + ${begin}")
  math(EXPR size "${end} - ${begin}")
  file(READ ${WEIGHTS} digits OFFSET ${offset} LIMIT ${size} HEX)
  string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," digits ${digits})
  string(REGEX REPLACE "(..........,..........,..........,..........,..........,..........,..........,..........,)"
         "\n  \\1" digits ${digits})

  string(REPLACE encoder.layers. layer name ${tensor})
  string(REPLACE encoder.norm final_norm name ${name})
  string(REPLACE self_attn. "" name ${name})
  string(REGEX REPLACE "^character[.]weight$" character name ${name})
  string(REPLACE . _ name ${name})
  string(APPEND text "\ninline constexpr auto ${name} = floats({${digits}});\n")
endforeach()
file(WRITE ${HEADER} "${text}\n}  // namespace date_reader::weights\n")
