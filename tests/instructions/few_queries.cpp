// Makes one call of Attention with four queries and 256 keys. callgrind counts the instructions of this call.
#include <array>
#include <cstddef>

#include <ladon/ladon.hpp>

namespace {
using Attention = ladon::Attention<ladon::Shape{.queries = 4, .keys = 256, .model = 256, .heads = 4}>;
std::array<float, 4 * 4 * 64> q, y;
std::array<float, 4 * 256 * 64> k, v;
Attention::Workspace workspace;

void fill(auto& numbers, float step) {
  float value = 0.25f;
  for (float& number : numbers) number = (value = value > 0.5f ? value - 1 : value + step);
}
}  // namespace

extern "C" __attribute__((noinline)) void few_queries_run() { Attention::run(q, k, v, y, workspace); }

int main() {
  fill(q, 0.37f);
  fill(k, 0.13f);
  fill(v, 0.17f);
  few_queries_run();
  return y.back() == y.back() ? 0 : 1;
}
