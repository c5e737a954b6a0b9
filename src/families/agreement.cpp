// SPDX-License-Identifier: Apache-2.0
#include <ladon/safetensors/agreement.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include "description.hpp"
#include "safetensors.hpp"
#include "utf8.hpp"

namespace ladon::safetensors::detail {
namespace {

using families::Description;
using families::Stack;

bool is_decoder(Part part) { return part == Part::decoder || part == Part::decoder_layer; }
bool is_layer(Part part) { return part == Part::layer || part == Part::decoder_layer; }

// Returns the place behind `part` in the dotted name `name`, or npos.
std::size_t place_behind(const std::string& name, const std::string& part) {
  const std::size_t place = ("." + name + ".").find("." + part + ".");
  return place == std::string::npos ? place : place + part.size();
}

const Stack& stack_of(const std::string& file, const Description& description, const std::string& prefix, Part part) {
  std::vector<const Stack*> candidates;
  for (const Stack& stack : description.stacks)
    if (part == Part::attention || stack.attends_memory == is_decoder(part)) candidates.push_back(&stack);
  if (candidates.empty())
    throw Error(
        file + ": " + files::in_quotes(description.model_type) +
        (is_decoder(part) ? " has no layers that attend to a memory" : " has only layers that attend to a memory"));
  const Stack* found = candidates.size() == 1 ? candidates[0] : nullptr;
  for (const Stack* stack : candidates) {
    if (place_behind(prefix, stack->prefix) == std::string::npos) continue;
    if (found == nullptr || place_behind(prefix, found->prefix) == std::string::npos ||
        found->prefix.size() < stack->prefix.size())
      found = stack;
  }
  if (found != nullptr) return *found;
  std::string prefixes;
  for (const Stack* stack : candidates) prefixes += (prefixes.empty() ? "" : ", ") + files::in_quotes(stack->prefix);
  throw Error(file + ": no stack has the prefix " + files::in_quotes(prefix) + "; there are " + prefixes);
}

// Returns the number of the layer in a prefix such as "model.layers.3.self_attn", or 0.
std::size_t layer_of(const std::string& prefix, const Stack& stack) {
  const std::size_t place = place_behind(prefix, stack.prefix);
  return place == std::string::npos || place >= prefix.size() ? 0
                                                              : std::strtoul(prefix.c_str() + place + 1, nullptr, 10);
}

bool equal(const std::string& a, const std::string& b) {
  if (!a.ends_with('f') || !b.ends_with('f') || a.find_first_of("0123456789") == std::string::npos) return a == b;
  const float x = std::strtof(a.c_str(), nullptr), y = std::strtof(b.c_str(), nullptr);
  return std::abs(x - y) <= 1e-6f * std::abs(x);
}

bool begins_with_any(const std::string& name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto beginning) { return name.starts_with(beginning); });
}

// Returns whether a member of the Model has an influence on what is loaded. The mask, the score and the position of a
// decoder's attention depend on which of its two attentions is loaded.
bool concerns(const std::string& name, Part part, const Stack& stack) {
  if (is_layer(part)) return name != "layers" && name != "final_norm";
  if (part != Part::attention) return true;
  if (begins_with_any(name, {"model", "heads", "kv_heads", "head_width", "value_width", "projection", "output_bias",
                             "values_before_keys", "query_key_norm", "order"}))
    return true;
  return !stack.attends_memory && begins_with_any(name, {"mask", "score", "position", "window", "unrotated"});
}

std::string key_of(const std::string& name, const Description& description, const Stack& stack) {
  std::string member = name.substr(0, name.find(" of layer"));
  if (member == "window" || member == "unrotated") member = stack.keys.contains(member + "s") ? member + "s" : member;
  for (const std::string& key : {member, member.substr(0, member.find('.'))})
    if (const auto found = stack.keys.find(key); found != stack.keys.end()) return files::in_quotes(found->second);
  return "\"model_type\" " + files::in_quotes(description.model_type);
}

}  // namespace

Agreement agree(const Folder& folder, const std::string& prefix, Part part, const std::vector<MemberText>& facts) {
  const std::string file = files::utf8_of(folder.path() / "config.json");
  const Description description = families::describe_text(folder.config(), file);
  const Stack& stack = stack_of(file, description, prefix, part);
  const std::size_t layer = layer_of(prefix, stack);
  std::map<std::string, std::string> expected;
  for (MemberText& fact : facts_of(stack.model, stack.attends_memory)) expected[fact.name] = fact.value;
  const auto layout = std::find_if(facts.begin(), facts.end(), [](auto& fact) { return fact.name == "layout"; });
  const bool packed = layout == facts.end() || layout->value.find("in_proj") != std::string::npos;
  std::string problems;
  std::set<std::string> reported;
  for (const auto& [name, value] : facts) {
    const std::string group = name.substr(0, name.find(" of layer"));
    if (name == "layout" || reported.contains(group) || !concerns(name, part, stack)) continue;
    if (!packed && begins_with_any(name, {"projection_blocks", "values_before_keys"})) continue;
    const bool of_layer = group != name;
    const std::string there =
        of_layer && (is_layer(part) || part == Part::attention) ? group + " of layer " + std::to_string(layer) : name;
    const auto found = expected.find(there);
    if (found == expected.end() || equal(value, found->second)) continue;
    problems.append("\n  ").append(there).append(": the layer says ").append(value);
    problems.append(", and config.json says ").append(found->second);
    problems.append(" (").append(key_of(name, description, stack)).append(")");
    if (of_layer) reported.insert(group);
  }
  if (!problems.empty()) throw Error(file + " contradicts the layer:" + problems);
  if (!prefix.empty()) return {prefix, stack.epsilon};
  return {families::wrapper_of(description, stack, folder.file().tensors()) + stack.prefix, stack.epsilon};
}

}  // namespace ladon::safetensors::detail
