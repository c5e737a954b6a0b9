// One of the surroundings of ladon_bench_surroundings: SURROUNDING is 1 to 4, and CALL is the name of the function.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <ladon/ladon.hpp>

namespace {

constexpr ladon::Shape sizes{.queries = TOKENS, .model = MODEL, .heads = HEADS};
using Attention = ladon::MultiHeadAttention<sizes>;

[[maybe_unused]] std::array<float, sizes.queries * sizes.model> x, y;
std::array<float, 3 * sizes.model * sizes.model> in_weight;
std::array<float, 3 * sizes.model> in_bias;
std::array<float, sizes.model * sizes.model> out_weight;
std::array<float, sizes.model> out_bias;
[[maybe_unused]] Attention::Workspace workspace;
const Attention::Weights weights{.in_proj = {in_weight.data(), in_bias.data()},
                                 .out_proj = {out_weight.data(), out_bias.data()}};

// Hides `pointer` from the compiler, and keeps the stores behind it.
template <class T>
T* used(T* pointer) {
  asm volatile("" : "+r"(pointer) : : "memory");
  return pointer;
}

#if SURROUNDING == 4
template <class Block>
class Classifier {
 public:
  float classify(const float* from, float scale, float offset) {
    Block::run(from, *used(&weights_), y_.data(), workspace_, {.queries = queries_, .keys = queries_});
    return offset + scale * *used(y_.data());
  }

 private:
  typename Block::Weights weights_ = weights;
  typename Block::Workspace workspace_;
  std::array<float, sizes.queries * sizes.model> y_;
  std::size_t queries_ = sizes.queries;
};
#endif

}  // namespace

// Calls attention `times` times. The addresses of x and y are known (1), are on the heap, in a lambda with options (2),
// or are arguments, with another mask in the same function (3). In (4), a class template holds the memory.
void CALL(int times) {
#if SURROUNDING == 1
  for (int i = 0; i < times; ++i) {
    Attention::run(x.data(), weights, y.data(), workspace);
    used(y.data());
  }
#elif SURROUNDING == 2
  const std::vector<float> from(x.begin(), x.end());
  std::vector<float> to(y.size());
  const auto memory = std::make_unique<Attention::Workspace>();
  const Attention::Weights given = *used(&weights);
  const Attention::Options options{.mask = {}};
  const auto rounds = [&](auto run) {
    for (int i = 0; i < times; ++i) run(), used(to.data());
  };
  rounds([&] { Attention::run(from.data(), given, to.data(), *memory, options); });
#elif SURROUNDING == 3
  using Causal = ladon::MultiHeadAttention<sizes, ladon::mask::Causal>;
  static Causal::Workspace causal;
  for (int i = 0; i < times; ++i) {
    Attention::run(used(x.data()), *used(&weights), used(y.data()), *used(&workspace));
    if (*used(&times) < 0) Causal::run(used(x.data()), *used(&weights), used(y.data()), causal);
  }
#else
  static Classifier<Attention> only;
  Classifier<Attention>& classifier = *used(&only);
  float sum = 0;
  for (int i = 0; i < times; ++i) sum += classifier.classify(used(x.data()), 0.5f, sum);
  used(&sum);
#endif
}
