// Tests a kernel that contains its weights: ladon_add_kernel with WEIGHTS built it from a checkpoint, in a cross build.
// The input, the mask and the expected output come from PyTorch (tests/recipes/files/pytorch).
#include <cmath>
#include <cstdint>

#include "board.hpp"
#include "f_stored.h"

extern "C" {
extern const float pytorch_x[], pytorch_y[];  // [F_STORED_QUERIES][F_STORED_MODEL]
extern const std::uint8_t pytorch_may_see[];  // [F_STORED_KEYS]
}

namespace {

alignas(F_STORED_WORKSPACE_ALIGN) unsigned char workspace[F_STORED_WORKSPACE_BYTES];
float y[F_STORED_QUERIES * F_STORED_MODEL];

}  // namespace

int main() {
  f_stored_options options{};
  options.padding = pytorch_may_see;
  if (f_stored_run_with(pytorch_x, &f_stored_stored_weights, y, workspace, &options) != LADON_OK) return 1;
  float most = 0;
  for (int i = 0; i < F_STORED_QUERIES * F_STORED_MODEL; ++i) {
    const float difference = std::abs(y[i] - pytorch_y[i]);
    if (!(difference <= most)) most = difference;  // also if `difference` is NaN
  }
  board::print("largest difference, in millionths: ");
  board::print_number(static_cast<std::uint64_t>(most * 1e6f));
  board::print("\n");
  return most < 1e-5f ? 0 : 1;
}
