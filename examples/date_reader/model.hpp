// Provides the date reader with float32 or int8 weights, as the user chooses.
#pragma once

#include "reader.hpp"

namespace date_reader {

enum class Precision { float32, int8 };

// `read` uses one static workspace, so only one call may run at a time.
struct Model {
  Reading (*read)(std::string_view text, Attention* attention);
  std::size_t weight_bytes, workspace_bytes;
};

Model model_of(Precision precision) noexcept;

}  // namespace date_reader
