// Linear maps of one row, compiled as programs are (-O3): the other tests of linear maps are compiled without
// optimisation. g++ 12.2 once computed wrong sums on a Cortex-M55 (ladon/detail/target/cortex_m.hpp).
#include <board.hpp>

#include <cstddef>

#include <ladon/ladon.hpp>

namespace {

// Small integers, so all sums are exact.
float number(std::size_t seed) { return static_cast<float>(seed * 7 % 11) - 5.0f; }

template <std::size_t Out, std::size_t In>
[[gnu::noinline]] bool is_right() {
  using Rows = ladon::LinearRows<1, Out, In>;
  static float weight[Out][In], bias[Out], x[In], y[Out], z[Out];
  static typename Rows::Workspace workspace;
  for (std::size_t i = 0; i < Out * In; ++i) weight[i / In][i % In] = number(i);
  for (std::size_t i = 0; i < Out; ++i) bias[i] = number(3 * i);
  for (std::size_t i = 0; i < In; ++i) x[i] = number(5 * i);
  const typename Rows::Weights weights{{weight}, {bias}};
  ladon::linear(weights, x, y);
  Rows::run(x, weights, z, workspace);
  for (std::size_t r = 0; r < Out; ++r) {
    float sum = bias[r];
    for (std::size_t i = 0; i < In; ++i) sum += weight[r][i] * x[i];
    if (y[r] != sum || z[r] != sum) return false;
  }
  return true;
}

template <std::size_t... In>
bool are_right() {
  return (... && (is_right<1, In>() && is_right<4, In>() && is_right<7, In>() && is_right<10, In>()));
}

}  // namespace

int main() {
  if (are_right<8, 16, 31, 32, 40, 64, 129>()) board::exit(0);
  board::print("a linear map of one row is wrong\n");
  board::exit(1);
}
