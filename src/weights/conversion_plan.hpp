// SPDX-License-Identifier: Apache-2.0
// Plans a conversion: which tensors of a checkpoint become int8, int4, BF16 or F32, and the place of each tensor in the
// output.
#pragma once

#include <cstddef>
#include <regex>
#include <string>
#include <vector>

#include "safetensors.hpp"

namespace ladon::weights {

// The element type of the converted matrices.
enum class Target { int8, int4, bfloat16, float32 };

// Words for messages about a conversion.
struct ConversionWords {
  const char* verb;
  const char* participle;
  const char* element;  // element type of the converted tensors
  const char* from;     // the dtypes that are converted
};
ConversionWords words(Target target);

// The user's choice of tensors: the options --keep, --embeddings and --rotate.
struct Selection {
  std::vector<std::regex> keep;  // a tensor whose name has a match is copied unchanged
  bool embeddings = false;       // if true, embeddings and heads of language models are converted, too
  bool rotate = false;           // if true, integer weights are rotated (ladon::layout::RotatedInt8), except embeddings
};

// States what an output tensor contains: a copy of its source, the rounded weights of the source, the scales that
// belong to rounded int8 or int4 weights, or the values of an F16 or BF16 source as F32.
enum class Making { copy, weight, scale, widened };

struct OutputTensor {
  files::NamedTensor named;     // name and place in the output
  const files::Tensor* source;  // the tensor of the input
  Making making;
  bool rotated;  // the integer weights are rotated, and the scales are negative
  Target type;   // of a weight, or of the weight to which the scales belong
};

struct ConversionPlan {
  Target target;
  std::string header;                 // all bytes of the output before the data
  std::vector<OutputTensor> tensors;  // in the order of the output's data
  std::size_t converted = 0;          // number of input tensors that are converted
  std::size_t widened = 0;            // number of input tensors that become F32
  std::size_t copied = 0;
  std::size_t already_converted = 0;  // copied tensors that are integer weights with a scale, or BF16 or F32 weights
};

// Plans the int8, int4, BF16 or F32 version of a checkpoint. In an F32 version, all F16 and BF16 tensors become F32. In
// a BF16 version, F16 and BF16 tensors of one dimension (norms and biases) become F32, because layers read them as
// floats.
//
// The matrices of an int8 or BF16 version: In a BF16 version, a weight "X.weight" has dtype BF16. In an int8
// version, "X.weight" has dtype I8, and "X.weight_scale" has dtype F32 and the shape [rows, 1], as in files of
// compressed-tensors. In an int4 version, the weight has dtype U8 and the shape [rows, int4_row_bytes(columns)]
// (ladon/detail/vec/int4.hpp). Embeddings of an int4 version have 8 bits. All other tensors and the "__metadata__" of
// the header are copied.
//
// A tensor is converted if all of these conditions hold:
//   - The tensor has two dimensions, and both are above 0.
//   - The dtype is F32 or F16, or for a conversion to int8 or int4 also BF16.
//   - The name is "weight", or ends in ".weight" or "_proj_weight", and has no match in selection.keep.
//   - The tensor is neither an embedding nor the head of a language model, unless selection.embeddings is true.
// Embeddings and heads are recognised by their names. A tensor with the content of an embedding counts as a head, too.
//
// Tensors with larger elements come first in the output, so that every element is aligned.
//
// Throws files::Error if the file has weights that another program packed, if no tensor is converted, or if there are
// problems. The text of the error begins with
// `file_name`, and has a line for each problem. Problems are:
//   - a tensor with a wrong number of bytes for its shape
//   - in a conversion to int8 or int4, a new scale whose name exists in the file
//   - in these conversions, an integer weight of the file that has scales with a wrong shape or dtype, scales of both
//     signs, or a scale that is 0 or not finite
//   - if selection.rotate is true, a matrix whose number of columns is no multiple of 8
//   - in a conversion to int4, a matrix of more than 65,536 columns
ConversionPlan plan_conversion(const files::Safetensors& file, const std::string& file_name, Target target,
                               const Selection& selection);

}  // namespace ladon::weights
