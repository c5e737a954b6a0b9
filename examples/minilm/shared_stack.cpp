#include "stack_of.hpp"

namespace minilm {
namespace {

class SharedStackOf final : public SharedStack, Wired<max_tokens, ladon::mask::Bits> {
 public:
  explicit SharedStackOf(const Checkpoint& checkpoint) : Wired(checkpoint) {}

  void run(const float* x, float* y, std::size_t tokens, const Sight& sight) noexcept override {
    Encoder::run(x, weights_, y, *workspace_, {.tokens = tokens, .mask = {.bits = sight.front().data()}});
  }
};

}  // namespace

std::unique_ptr<SharedStack> make_shared_stack(const Checkpoint& checkpoint) {
  return std::make_unique<SharedStackOf>(checkpoint);
}

}  // namespace minilm
