#include "model.hpp"

namespace date_reader {
namespace {

template <class Workspace>
Reading read_in_own_workspace(std::string_view text, Attention* attention) {
  static constinit Workspace workspace{};
  return read(text, workspace, attention);
}

}  // namespace

Model model_of(Precision precision) noexcept {
  if (precision == Precision::int8)
    return {read_in_own_workspace<Int8Workspace>, int8_weight_bytes, sizeof(Int8Workspace)};
  return {read_in_own_workspace<Workspace>, weight_bytes, sizeof(Workspace)};
}

}  // namespace date_reader
