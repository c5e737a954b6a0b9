// SPDX-License-Identifier: Apache-2.0
// Compares the tensors of steps with checkpoints of tiny models: each tensor of a step is in its checkpoint, and each
// tensor outside the layers belongs to a step or has a reason in `unused`.
#include <algorithm>
#include <filesystem>

#include "describing.hpp"
#include "safetensors.hpp"
#include "step_tensors.hpp"

namespace ladon::families {
namespace {

namespace fs = std::filesystem;

// Tensors without a step.
constexpr const char* unused[] = {
    "mask_token",         // the row of a patch that training hides
    "masked_spec_embed",  // the row of a sound that training hides
    "contact_head.",      // of EsmModel.predict_contacts
    ".inv_freq",          // a constant
};

// Returns a shape without the dimensions of length 1 in front.
template <class Shape>
std::vector<std::size_t> shortened(const Shape& shape) {
  const auto first = std::find_if(shape.begin(), shape.end(), [](const auto length) { return length != 1; });
  return {first, shape.end()};
}

bool is_unused(const std::string& name) {
  return std::any_of(std::begin(unused), std::end(unused),
                     [&](const char* part) { return name.find(part) != name.npos; });
}

// Returns whether a tensor belongs to the layers of a stack, to its last norm or to its table of relative positions.
bool is_of_layers(const Stack& stack, const std::string& name) {
  return name.starts_with(stack.prefix + ".") ||
         (!stack.final_norm.empty() && name.starts_with(stack.final_norm + ".")) ||
         (stack.relative_bias && name == stack.relative_bias->tensor);
}

void check_tensors(const fs::path& folder, const Description& description) {
  const safetensors::File file(folder);
  const Tensors& tensors = file.tensors();
  std::vector<std::string> used;
  for (const Stack& stack : description.stacks) {
    for (const NamedShape& part : tensors_of(stack)) {
      CAPTURE(part.name);
      used.push_back(part.name);
      const auto found = tensors.find(part.name);
      REQUIRE(found != tensors.end());
      CHECK(shortened(found->second.shape) == shortened(part.shape));
    }
  }
  for (const auto& [name, tensor] : tensors) {
    CAPTURE(name);
    const bool of_layers = std::any_of(description.stacks.begin(), description.stacks.end(),
                                       [&, &key = name](const Stack& stack) { return is_of_layers(stack, key); });
    CHECK((of_layers || std::find(used.begin(), used.end(), name) != used.end() || is_unused(name)));
  }
}

// Checks the models whose stacks all have steps. Returns their number.
std::size_t check_folders(const fs::path& models) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(models)) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    CAPTURE(entry.path().string());
    Description description;
    try {
      description = describe(entry.path());
    } catch (const safetensors::Error&) {
      continue;  // Ladon lacks the family
    }
    if (std::any_of(description.stacks.begin(), description.stacks.end(),
                    [](const Stack& stack) { return stack.input.steps.empty(); }))
      continue;
    check_tensors(entry.path(), description);
    ++count;
  }
  return count;
}

}  // namespace

TEST_SUITE_BEGIN("step_tensors");

TEST_CASE("the tensors of steps are in the checkpoints") {
  CHECK(check_folders(LADON_MODELS) >= 9);
  if (fs::exists(LADON_SHARED_MODELS))
    CHECK(check_folders(LADON_SHARED_MODELS) >= 50);
  else
    MESSAGE("skipped: there is no " LADON_SHARED_MODELS);
}

TEST_CASE("a prefix stands before names of tensors, and not before the name of an argument") {
  std::vector<Step> steps{AddRow{.table = "types.weight", .rows = 2, .ids = "token_type_ids"}};
  add_prefix(steps, "bert.");
  CHECK(std::get<AddRow>(steps[0]).table == "bert.types.weight");
  CHECK(std::get<AddRow>(steps[0]).ids == "token_type_ids");
}

TEST_SUITE_END();

}  // namespace ladon::families
