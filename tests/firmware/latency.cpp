// Tests that the number of instructions of a call depends only on the lengths, not on the values of the input. The test
// counts the instructions of a call for a hundred inputs with magnitudes from 2^-20 to 2^20. These counts may differ by
// at most one tick of the timer.
#include <algorithm>

#include "board.hpp"
#include "subjects.hpp"

namespace {

constexpr int inputs = 100;
constexpr std::uint64_t tick = 50;  // the longest tick of all boards, in instructions

// Makes an input: fills `values` with random numbers that depend on the index `input`. Their largest magnitude is from
// 2^-20 to 2^20. Every tenth input begins with 16 zeros.
void fill(std::span<float> values, int input) {
  firmware::Random random(static_cast<std::uint32_t>(100 + input));
  float size = 0x1p-20f;
  for (int i = 0; i < input % 41; ++i) size *= 2;
  random.fill(values, size);
  if (input % 10 == 0) std::fill_n(values.begin(), 16, 0.0f);
}

template <class Run>
bool is_constant(const char* name, std::span<float> values, Run run) {
  std::uint64_t least = UINT64_MAX, most = 0;
  for (int input = 0; input < inputs; ++input) {
    fill(values, input);
    const std::uint64_t before = board::instructions();
    run();
    const std::uint64_t count = board::instructions() - before;
    least = std::min(least, count);
    most = std::max(most, count);
  }
  board::print(name);
  board::print(": ");
  board::print_number(least);
  board::print(" to ");
  board::print_number(most);
  board::print(" instructions\n");
  return most - least <= tick;
}

}  // namespace

int main() {
  constexpr ladon::Shape shape{.queries = 18, .model = 24, .heads = 3};
  using Causal = firmware::Attention<shape, ladon::mask::Causal>;
  using Padded = firmware::Attention<shape>;
  using Gelu = firmware::Layer<shape, ladon::Activation::gelu>;
  using Silu = firmware::Layer<shape, ladon::Activation::silu>;
  Causal::prepare();
  Gelu::prepare();
  Silu::prepare();
  bool constant = is_constant("causal", Causal::input(), [] { Causal::run(); });
  constant &= is_constant("no mask", Padded::input(), [] { Padded::run(); });
  constant &= is_constant("11 tokens", Padded::input(), [] { Padded::run({.tokens = 11}); });
  constant &= is_constant("layer with GELU", Gelu::input(), [] { Gelu::run(); });
  constant &= is_constant("layer with SiLU", Silu::input(), [] { Silu::run(); });
  return constant ? 0 : 1;
}
