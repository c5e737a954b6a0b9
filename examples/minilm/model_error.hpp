#pragma once

#include "error.hpp"

namespace minilm {

using ModelError = examples::Error;

}  // namespace minilm
