// SPDX-License-Identifier: Apache-2.0
// Reads integer weights in checkpoints that follow the naming of compressed-tensors: int8 weights have the dtype I8,
// and int4 weights (ladon/detail/vec/int4.hpp) the dtype U8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "safetensors.hpp"

namespace ladon::weights {

// Returns the name of the scales of a weight: "X.weight" has "X.weight_scale".
std::string scale_name(std::string_view weight);

// Returns the name of an integer weight of the file: a matrix of the dtype that has scales. Returns "" if the file has
// none.
std::string quantised_weight_in(const files::Safetensors& file, std::string_view dtype);

// The functions scale_complaint and zero_point_complaint return the text of an error, or "" if there is no error.

// The sign of the scales of int8 weights. Rotated weights (ladon::layout::RotatedInt8) have negative scales.
enum class ScaleSign { positive, negative };

// Checks a tensor of scales, one scale for each row of a weight with `rows` rows. All scales must be finite and have
// the given sign. The scale of an int4 weight (dtype_of_weight U8) may be 0. The tensor must have the dtype F32, F16 or
// BF16, and the shape [rows,1] or [rows]. The caller checks that the tensor has as many bytes as its shape needs.
std::string scale_complaint(const files::Safetensors& file, const files::Tensor& scale, std::uint64_t rows,
                            ScaleSign sign, std::string_view dtype_of_weight);

// Returns the sign of the first scale that is not 0. Returns ScaleSign::positive in all other cases, even if the tensor
// has a wrong dtype or no elements.
ScaleSign sign_of_scales(const files::Safetensors& file, const files::Tensor& scale);

// Checks that the zero points of the weight are 0, if the file has zero points.
std::string zero_point_complaint(const files::Safetensors& file, std::string_view weight);

}  // namespace ladon::weights
