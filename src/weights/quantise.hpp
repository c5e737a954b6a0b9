// Writes the int8 version of a checkpoint. Memory holds neither the output nor a whole tensor.
#pragma once

#include <string>
#include <vector>

#include "quantise_plan.hpp"
#include "replace_file.hpp"
#include "safetensors.hpp"

namespace weights {

// How far the int8 version of a weight is from the weight. Both are 0 for a weight of zeros.
struct Deviation {
  double relative_rms;   // root of (sum of squared errors) / (sum of squared weights)
  double largest_error;  // as a fraction of the weight's largest magnitude
};

// Throws files::Error, whose text begins with `file_name`, if a weight that is to be quantised is infinite or NaN.
void check_finite(const files::Safetensors& file, const std::string& file_name, const QuantisationPlan& plan);

// Passes the output to the sink: header, then data. The int8 weights and the scales are those of ladon::quantise.
// Returns the deviation of each quantised weight, in the order of the plan. Precondition: check_finite has passed. If
// another process changes the file meanwhile, the function throws files::Error, or the output mixes old and new
// weights.
std::vector<Deviation> write_quantised(const files::Safetensors& file, const std::string& file_name,
                                       const QuantisationPlan& plan, const files::Sink& sink);

// Returns a line for each quantised weight, and a line with the numbers of tensors and the bytes of their data. Names
// are escaped.
std::string report(const QuantisationPlan& plan, const std::vector<Deviation>& deviations);

}  // namespace weights
