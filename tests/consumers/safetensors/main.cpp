// Runs PyTorch's encoder by the recipe of docs/pytorch.md.
#include "pytorch.cpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  const ladon::safetensors::File expected(FILES "/expected.safetensors");
  const float* x = expected.tensor("x", {6, 8});
  const float* y = expected.tensor("y", {6, 8});
  std::vector<std::uint8_t> may_see(64);
  std::copy_n(expected.tensor<std::uint8_t>("may_see", {6}), 6, may_see.begin());
  std::vector<float> found(6 * 8, NAN);
  encode(FILES "/model.safetensors", x, may_see.data(), 6, found.data());
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += !(std::fabs(found[i] - y[i]) <= 0x1p-18f);
  std::printf("%d wrong\n", wrong);
  return wrong;
}
