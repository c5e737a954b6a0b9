// SPDX-License-Identifier: Apache-2.0
#include "kernel_agreement.hpp"

#include <cmath>
#include <cstdlib>
#include <ladon/safetensors/agreement.hpp>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <vector>

#include "safetensors.hpp"
#include "utf8.hpp"

namespace ladon::weights {
namespace {

namespace internal = safetensors::detail;
using internal::Part, internal::text_of;

void parse(const std::string& value, bool& member) { member = value == "true"; }
void parse(const std::string& value, std::size_t& member) {
  member = value == "all" ? ladon::all : std::strtoul(value.c_str(), nullptr, 10);
}
void parse(std::string value, float& member) {
  constexpr std::string_view cast = "static_cast<float>(";
  if (value.starts_with(cast)) value.erase(0, cast.size());
  member = std::strtof(value.c_str(), nullptr);
}
template <class Enum>
  requires std::is_enum_v<Enum>
void parse(const std::string& value, Enum& member) {
  for (int i = 0; !text_of(static_cast<Enum>(i)).empty(); ++i)
    if (text_of(static_cast<Enum>(i)) == value) member = static_cast<Enum>(i);
}

struct Kernel {
  Part part = Part::attention;
  std::string epsilon{};
  bool any_causal = false, has_kinds = false;
  Model model{};
};

Part part_of(const std::string& name) {
  constexpr std::string_view names[] = {"attention", "layer", "stack", "decoder_layer", "decoder"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (names[i] == name) return static_cast<Part>(i);
  throw files::Error("no part of a model is called " + files::in_quotes(name));
}

Kernel read(const std::string& text) {
  Kernel kernel;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string word = line.substr(0, space), rest = line.substr(space + 1);
    if (word == "part") kernel.part = part_of(rest);
    if (word == "epsilon") kernel.epsilon = rest;
    if (word == "any") kernel.any_causal = true;
    if (word == "model.kinds") kernel.has_kinds = true;
    if (!rest.starts_with("= ") || !rest.ends_with(';')) continue;
    const std::string value = rest.substr(2, rest.size() - 3);
    internal::for_each_member(kernel.model, [&](const char* name, auto& member) {
      if (word == std::string("model.") + name) parse(value, member);
    });
  }
  return kernel;
}

}  // namespace

void check_agreement(const std::filesystem::path& folder, const std::string& prefix, const std::string& text) {
  const Kernel kernel = read(text);
  const bool attends_memory = kernel.part == Part::decoder || kernel.part == Part::decoder_layer;
  const bool is_stack = kernel.part == Part::stack || kernel.part == Part::decoder;
  auto facts = internal::facts_of(kernel.model, attends_memory, is_stack);
  std::erase_if(facts, [&](const internal::MemberText& fact) {
    const bool of_kind = fact.name.starts_with("window") || fact.name.starts_with("un");
    const bool of_mask = fact.name == "mask.causal" || fact.name.starts_with("window");
    return (kernel.has_kinds && of_kind) || (kernel.any_causal && of_mask);
  });
  const internal::Agreement agreed = internal::agree(safetensors::Folder(folder), prefix, kernel.part, facts);
  if (kernel.epsilon.empty()) return;
  const float epsilon = std::strtof(kernel.epsilon.c_str(), nullptr);
  if (std::abs(epsilon - agreed.epsilon) > 1e-5f * agreed.epsilon)
    throw files::Error(files::utf8_of(folder / "config.json") + " contradicts the layer:\n  epsilon: the layer says " +
                       kernel.epsilon + ", and config.json says " + text_of(agreed.epsilon));
}

}  // namespace ladon::weights
