// SPDX-License-Identifier: Apache-2.0
// Which tensors of a checkpoint become int8 or BF16, and where each tensor of the resulting file lies.
#pragma once

#include <cstddef>
#include <regex>
#include <string>
#include <vector>

#include "safetensors.hpp"

namespace ladon::weights {

// The type that the matrices of linear layers get.
enum class Target { int8, bfloat16 };

// How messages name a conversion.
struct ConversionWords {
  const char* verb;
  const char* participle;
  const char* element;  // of the converted tensors
  const char* from;     // the dtypes that are converted
};
ConversionWords words(Target target);

// What the user chooses.
struct Selection {
  std::vector<std::regex> keep;  // a tensor stays as it is if one of these is found in its name
  bool embeddings = false;       // convert embeddings and heads of language models, too
};

// How a tensor of the output is made from its source.
enum class Making { copy, weight, scale };

struct OutputTensor {
  files::NamedTensor named;     // of the output
  const files::Tensor* source;  // of the input, where its tensors live
  Making making;
};

struct ConversionPlan {
  Target target;
  std::string header;                 // of the output: everything before the data
  std::vector<OutputTensor> tensors;  // in the order of the output's data
  std::size_t converted = 0;          // tensors of the input, as are the two below
  std::size_t copied = 0;
  std::size_t already_converted = 0;  // among the copied: int8 weights that have a scale, or BF16 weights
};

// Plans the int8 or BF16 version of a checkpoint. A weight "X.weight" becomes "X.weight" of dtype BF16, or of dtype I8
// with "X.weight_scale" of dtype F32 and shape [rows, 1], as in the files of compressed-tensors. Every other tensor is
// copied, and so is the header's "__metadata__".
//
// A tensor is converted if it has two dimensions, neither of them 0, and dtype F32 or F16 (to int8 also BF16), and if
// its name is "weight" or ends in ".weight" or "_proj_weight". Embeddings and heads of language models are recognised
// by their names; a tensor of the same content as an embedding is a head as well.
//
// Larger elements come first in the output, so that every element is aligned.
//
// Throws files::Error, whose text begins with `file_name`, if no tensor is converted. Also throws files::Error, with a
// line for each problem, if a tensor has not as many bytes as its shape needs. A plan for int8 has two more problems:
// the name of a scale is taken, or a weight that is int8 already has a scale of another shape or dtype, or a scale that
// is not positive and finite.
ConversionPlan plan_conversion(const files::Safetensors& file, const std::string& file_name, Target target,
                               const Selection& selection);

}  // namespace ladon::weights
