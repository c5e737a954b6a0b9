#pragma once

#include "file_error.hpp"

namespace examples {

// An error in a file of a model, or in the input of a model. The text is for the user.
using Error = files::Error;

}  // namespace examples
