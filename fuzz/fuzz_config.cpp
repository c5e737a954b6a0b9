// Fuzzes the reader of a model's config.json. The reader must accept any bytes as a file, or throw safetensors::Error.
// A description must have sizes that fit together, and finite numbers.
//
// An input is a config.json.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "description.hpp"
#include "print.hpp"
#include "support/require.hpp"

namespace families = ladon::families;

namespace {

using ladon_fuzz::require, ladon_fuzz::require_shown;

void check_model(const ladon::Model& model) {
  const ladon::Shape shape = model.shape();
  require(model.layers >= 1 && model.layers <= 4096, "a stack has from 1 to 4096 layers");
  require(shape.queries >= 1 && shape.model >= 1 && shape.heads >= 1 && model.feed_forward >= 1, "sizes are above 0");
  require(shape.head_width >= 1 && shape.kv_heads >= 1 && shape.heads % shape.kv_heads == 0, "heads have a width");
  require(model.position.width <= shape.head_width && model.position.width % 2 == 0, "heads have rotated features");
  require(shape.heads % model.projection_blocks == 0, "heads are in blocks");
  require(model.has_all_kinds(), "each layer has a kind");
  for (const float number : {model.score.scale, model.score.softcap, model.residual_scale})
    require(std::isfinite(number), "a model's numbers are finite");
}

void check_rotary(const families::Stack& stack, const families::Rotary& rotary) {
  const std::size_t width = stack.model.position.width;
  require(rotary.factors.empty() || rotary.factors.size() == width / 2, "each pair of features has a factor");
  ladon::RotaryScaling scaling = rotary.scaling;
  if (!rotary.factors.empty()) scaling.factors = rotary.factors.data();
  for (std::size_t pair = 0; pair < std::min<std::size_t>(width / 2, 99); ++pair)
    require(std::isfinite(scaling.frequency(pair, width, stack.model.tokens)), "frequencies are finite");
  require(std::isfinite(scaling.magnitude()), "the factor of all cosines and sines is finite");
}

void check(const families::Description& description) {
  require(!description.stacks.empty(), "a description has a stack");
  for (const families::Stack& stack : description.stacks) {
    check_model(stack.model);
    require(std::isfinite(stack.epsilon) && std::isfinite(families::input_scale(stack)),
            "a stack's numbers are finite");
    require(stack.rotary.empty() == (stack.model.position.width == 0), "rotated layers have angles");
    for (const families::Rotary& rotary : stack.rotary) check_rotary(stack, rotary);
  }
  require_shown(families::as_cpp(description, "config.json"), "a description in C++");
  require_shown(families::as_json(description), "a description in JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(families::describe_text({reinterpret_cast<const char*>(data), size}, "config.json"));
  } catch (const ladon::safetensors::Error& error) {
    require_shown(error.what(), "an error");
  }
  return 0;
}
