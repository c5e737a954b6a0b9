// Prints how many instructions and how much workspace attention takes, for one size of key blocks (LADON_KEY_BLOCK).
// The shape is "firmware_memory" of shapes.json. This shape has enough keys for several blocks of keys.
#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

#include "board.hpp"
#include "shapes.hpp"

namespace {

constexpr ladon::Shape shape = ladon_bench::shapes[0];
constexpr std::size_t tokens = shape.queries, model = shape.model;
using Attention = ladon::MultiHeadAttention<shape>;
constexpr std::uint64_t multiply_adds = 4ull * tokens * model * model + 2ull * tokens * tokens * model;

float x[tokens * model], weight[3 * model * model], bias[3 * model];
Attention::Workspace workspace;

}  // namespace

int main() {
  for (std::size_t i = 0; i < tokens * model; ++i) x[i] = static_cast<float>(i % 17) / 16;
  for (std::size_t i = 0; i < 3 * model * model; ++i) weight[i] = static_cast<float>(i % 13) / 64 - 0.1f;
  const Attention::Weights weights{.in_proj = {&weight[0], &bias[0]}, .out_proj = {&weight[0], &bias[0]}};
  const std::uint64_t before = board::instructions();
  Attention::run(&x[0], weights, &x[0], workspace);
  const std::uint64_t took = board::instructions() - before;
  board::print("key block, bytes of workspace, thousandths of an instruction for each multiply-add:");
  board::print_number(LADON_KEY_BLOCK, 6);
  board::print_number(sizeof workspace, 9);
  board::print_number(1000 * took / multiply_adds, 7);
  board::print("\n");
}
