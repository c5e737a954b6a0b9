#include "stack_of.hpp"

namespace minilm {
namespace {

template <class AnyDense>
class SharedStackOf final : public SharedStack, Wired<max_tokens, ladon::mask::Bits, AnyDense> {
  using Base = Wired<max_tokens, ladon::mask::Bits, AnyDense>;

 public:
  explicit SharedStackOf(const LayersOf<AnyDense>& layers) : Base(layers) {}

  void run(const float* x, float* y, std::size_t tokens, const Sight& sight) noexcept override {
    Base::Encoder::run(x, this->weights_, y, *this->workspace_,
                       {.tokens = tokens, .mask = {.bits = sight.front().data()}});
  }
};

}  // namespace

std::unique_ptr<SharedStack> make_shared_stack(const Layers& layers) {
  return std::make_unique<SharedStackOf<Dense>>(layers);
}
std::unique_ptr<SharedStack> make_shared_stack(const LayersOf<BFloat16Dense>& layers) {
  return std::make_unique<SharedStackOf<BFloat16Dense>>(layers);
}
std::unique_ptr<SharedStack> make_shared_stack(const LayersOf<Int8Dense>& layers) {
  return std::make_unique<SharedStackOf<Int8Dense>>(layers);
}
std::unique_ptr<SharedStack> make_shared_stack(const LayersOf<RotatedInt8Dense>& layers) {
  return std::make_unique<SharedStackOf<RotatedInt8Dense>>(layers);
}

}  // namespace minilm
