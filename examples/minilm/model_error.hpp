#pragma once

#include <stdexcept>

namespace minilm {

// What is wrong with a file of the model, or with what it was asked to do. The text is for the
// user: it names the file, the tensor where there is one, what was expected and what came.
struct ModelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace minilm
