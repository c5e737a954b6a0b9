#pragma once

#include "file_error.hpp"

namespace examples {

// What is wrong with a file of a model, or with what a model was asked to do; the text is for the user.
using Error = files::Error;

}  // namespace examples
