#pragma once

#include <string>

#include "safetensors.hpp"

namespace weights {

// A line for each tensor, by name: name, dtype, shape, bytes. What could steer a terminal is escaped.
std::string list(const files::Safetensors& file);

}  // namespace weights
