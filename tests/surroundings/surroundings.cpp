// Calls attention, or an encoder layer, from one of several surroundings. check.py looks at the loops in the object
// code: their registers must not depend on the surroundings. The macros TOKENS, MODEL, HEADS, PRECISION (Float32, Int8
// or Pairs), LAYER (0 or 1) and SURROUNDING come from the command line.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "../../bench/code/names.hpp"

namespace {

constexpr ladon::Shape sizes = code::shape<TOKENS, MODEL, HEADS>;
#if LAYER
using First = code::Layer<sizes, code::PRECISION>;
using Second = code::Layer<sizes, code::PRECISION, code::gelu<sizes>>;
#else
using First = code::Attention<sizes, ladon::mask::Unmasked, code::PRECISION>;
using Second = code::Attention<sizes, ladon::mask::Causal, code::PRECISION>;
#endif
using Numbers = std::array<float, sizes.queries * sizes.model>;

}  // namespace

// Arrays whose addresses the compiler knows.
#if SURROUNDING == 1
namespace {
Numbers x, y;
First::Weights weights;
First::Workspace workspace;
}  // namespace
float call() {
  First::run(x.data(), weights, y.data(), workspace);
  return y[0];
}

// Arrays on the heap, and options, in a lambda that another function calls.
#elif SURROUNDING == 2
void call(const First::Weights& given, void (*measure)(double, const void*), double patience) {
  const std::vector<float> x(sizes.queries * sizes.model, 1.0f);
  std::vector<float> y(sizes.queries * sizes.model);
  const auto workspace = std::make_unique<First::Workspace>();
  const First::Weights weights = given;
  const First::Options options{.mask = {}};
  const auto rounds = [&](auto run) {
    for (int i = 0; i < 100; ++i) {
      run();
      measure(patience * i, y.data());
    }
  };
  rounds([&] { First::run(x.data(), weights, y.data(), *workspace, options); });
}

// Two masks, or two layers, in one function.
#elif SURROUNDING == 3
void call(const float* x, const First::Weights& weights, const Second::Weights& more, float* y, First::Workspace& first,
          Second::Workspace& second, bool both) {
  First::run(x, weights, y, first);
  if (both) Second::run(y, more, y, second);
}

// A member of a class template, with further numbers that stay in registers.
#elif SURROUNDING == 4
namespace {
template <class Block>
class Classifier {
 public:
  float classify(const float* x, float scale, float offset) {
    Block::run(x, weights_, y_.data(), workspace_, {.queries = queries_, .keys = queries_});
    float sum = offset;
    for (const float number : y_) sum += scale * number;
    return sum;
  }

 private:
  typename Block::Weights weights_;
  typename Block::Workspace workspace_;
  Numbers y_;
  std::size_t queries_ = 3;
};
}  // namespace
float call(void* classifier, const float* x) {
  return static_cast<Classifier<Second>*>(classifier)->classify(x, 0.5f, 2.0f);
}
#endif
