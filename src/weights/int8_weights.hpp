// SPDX-License-Identifier: Apache-2.0
// Reads int8 weights in checkpoints that follow the naming of compressed-tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "safetensors.hpp"

namespace ladon::weights {

// Returns the name of the scales of a weight: "X.weight" has "X.weight_scale".
std::string scale_name(std::string_view weight);

// Returns the name of an int8 weight of the file: a matrix of dtype I8 that has scales. Returns "" if the file has
// none.
std::string int8_weight_in(const files::Safetensors& file);

// The functions scale_complaint and zero_point_complaint return the text of an error, or "" if there is no error.

// The sign of the scales of int8 weights. Rotated weights (ladon::layout::RotatedInt8) have negative scales.
enum class ScaleSign { positive, negative };

// Checks a tensor of scales, one scale for each row of a weight with `rows` rows. All scales must be finite and have
// the given sign. The tensor must have the dtype F32, F16 or BF16, and the shape [rows,1] or [rows]. The caller checks
// that the tensor has as many bytes as its shape needs.
std::string scale_complaint(const files::Safetensors& file, const files::Tensor& scale, std::uint64_t rows,
                            ScaleSign sign);

// Returns ScaleSign::negative if the first scale is below 0, and ScaleSign::positive in all other cases, even if the
// tensor has a wrong dtype or no elements.
ScaleSign sign_of_scales(const files::Safetensors& file, const files::Tensor& scale);

// Checks that the zero points of the weight are 0, if the file has zero points.
std::string zero_point_complaint(const files::Safetensors& file, std::string_view weight);

}  // namespace ladon::weights
