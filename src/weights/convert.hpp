// SPDX-License-Identifier: Apache-2.0
// Writes the int8, int4 or BF16 version of a checkpoint. Memory never holds the whole output or a whole tensor.
#pragma once

#include <string>
#include <vector>

#include "conversion_plan.hpp"
#include "replace_file.hpp"
#include "safetensors.hpp"

namespace ladon::weights {

// The difference between a converted weight and the original weight. `relative_rms` and `largest_error` are 0 if all
// elements of the original weight are 0.
struct Deviation {
  double relative_rms;   // root of (sum of squared errors) / (sum of squared weights)
  double largest_error;  // divided by the weight's largest magnitude
};

// Checks the weights that will be converted. Throws files::Error, whose text begins with `file_name`, if a weight is
// infinite or NaN, or would become infinite.
void check_values(const files::Safetensors& file, const std::string& file_name, const ConversionPlan& plan);

// Passes the output to the sink: header, then data. The integer weights and the scales are equal to the results of
// ladon::quantise and ladon::quantise_int4. The BF16 weights are equal to the results of ladon::to_bfloat16. Returns
// the deviation of each converted weight from the original weight, in the order of the plan. Precondition: check_values
// has accepted the file. If another process changes the file during the call, the function may throw files::Error, or
// may mix old and new weights in the output.
std::vector<Deviation> write_converted(const files::Safetensors& file, const std::string& file_name,
                                       const ConversionPlan& plan, const files::Sink& sink);

// Returns a text with a line for each converted weight, and a last line with the numbers of tensors and bytes. Names
// are escaped.
std::string report(const ConversionPlan& plan, const std::vector<Deviation>& deviations);

}  // namespace ladon::weights
