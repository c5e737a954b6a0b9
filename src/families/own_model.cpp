// SPDX-License-Identifier: Apache-2.0
// Models that no library of models has: config.json states every member of a Description by its name in C++.
// docs/import.md has an example.
#include <algorithm>
#include <ladon/safetensors/model_text.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "families.hpp"
#include "step_members.hpp"
#include "steps_json.hpp"

namespace ladon::families {
namespace {

// Reads a member whose key stands in `config`, if it is there. Notes the keys that it knows.
class Members {
 public:
  explicit Members(Config& config) : config_(config) {}

  void operator()(const char* key, std::size_t& member) {
    known(key);
    if (config_.has(key)) member = config_.size("", {key}, member);
  }
  void operator()(const char* key, float& member) {
    known(key);
    if (config_.has(key)) member = static_cast<float>(config_.number("", {key}, 0));
  }
  void operator()(const char* key, double& member) {
    known(key);
    if (config_.has(key)) member = config_.number("", {key}, 0);
  }
  void operator()(const char* key, bool& member) {
    known(key);
    if (config_.has(key)) member = config_.flag("", {key}, member);
  }
  void operator()(const char* key, std::string& member) {
    known(key);
    if (config_.has(key)) member = config_.text("", {key}, member);
  }
  // An enumerator of ladon/model.hpp or of steps.hpp, by its name.
  template <class Enum>
    requires std::is_enum_v<Enum>
  void operator()(const char* key, Enum& member) {
    known(key);
    if (!config_.has(key)) return;
    const std::string given = config_.text("", {key}, "");
    std::string names;
    for (int i = 0; !enumerator_of(static_cast<Enum>(i)).empty(); ++i) {
      const std::string name = enumerator_of(static_cast<Enum>(i));
      if (name == given) return void(member = static_cast<Enum>(i));
      names.append(i == 0 ? "" : ", ").append(name);
    }
    config_.fail(key, "one of " + names);
  }
  void operator()(const char* key, std::vector<Prepend::Rows>& member) {
    known(key);
    for (Config& object : config_.list(key)) {
      Members rows(object);
      Prepend::Rows& to = member.emplace_back();
      rows("tensor", to.tensor), rows("rows", to.rows);
      rows.finish();
    }
  }
  void operator()(const char* key, const char*) { known(key); }  // the name of a step, which read_steps has read
  void known(const char* key) {
    keys_.append(keys_.empty() ? "" : ", ").append(key);
    list_.emplace_back(key);
  }
  // Throws Error if the object has another key.
  void finish() const {
    for (const std::string& key : config_.keys())
      if (std::find(list_.begin(), list_.end(), key) == list_.end()) config_.fail(key, "no such key, but " + keys_);
  }

 private:
  Config& config_;
  std::string keys_;
  std::vector<std::string> list_;
};

// Reads the members of an object of `config`, or does nothing without the object.
template <class Read>
void read_inner(Config& config, const char* key, const Read& read) {
  Config inner = config.inner(key);
  Members members(inner);
  read(members);
  members.finish();
}

// The members of a Model whose names begin with "<group>.", or which have no group.
void read_group(Members& members, Model& model, std::string_view group) {
  safetensors::detail::for_each_member(model, [&](const std::string& name, auto& member) {
    const std::size_t dot = name.find('.');
    if (name.substr(0, dot == name.npos ? 0 : dot) == group)
      members(name.substr(dot == name.npos ? 0 : dot + 1).c_str(), member);
  });
}

void read_kinds(Config& config, Model& model) {
  for (Config& kind : config.list("kinds")) {
    if (model.kinds.count == std::size(model.kinds.items)) config.fail("kinds", "at most 8 kinds");
    LayerKind& to = model.kinds.items[model.kinds.count++];
    Members members(kind);
    members("window", to.window), members("unrotated", to.unrotated);
    members("unnormed_attention", to.unnormed_attention);
    members.finish();
  }
  const nlohmann::json* numbers = config.find("kind_of_layer");
  if (numbers == nullptr) return;
  if (!numbers->is_array() || numbers->size() > std::size(model.kind_of_layer.items))
    config.fail("kind_of_layer", "a list of at most 128 numbers of kinds");
  for (const nlohmann::json& number : *numbers) {
    if (!number.is_number_unsigned() || number.get<std::size_t>() >= model.kinds.count)
      config.fail("kind_of_layer", "a list of numbers of kinds");
    model.kind_of_layer.items[model.kind_of_layer.count++] = number.get<std::uint8_t>();
  }
}

Model read_model(Config config) {
  Model model{};
  Members members(config);
  read_group(members, model, "");
  for (const char* group : {"mask", "score", "position", "query_key_norm"}) {
    members.known(group);
    read_inner(config, group, [&](Members& inner) { read_group(inner, model, group); });
  }
  members.known("kinds"), members.known("kind_of_layer");
  members.finish();
  read_kinds(config, model);
  return model;
}

// Returns the name of a step.
std::string name_of(const Step& step) {
  std::string name;
  const auto visit = [&](std::string_view member, const auto& value) {
    if constexpr (std::is_convertible_v<decltype(value), std::string>)
      if (member == "step") name = value;
  };
  std::visit([&](const auto& any) { visit_members(any, visit); }, step);
  return name;
}

// A step of each kind.
template <std::size_t... Number>
std::vector<Step> all_steps(std::index_sequence<Number...>) {
  return {std::variant_alternative_t<Number, Step>{}...};
}

Step read_step(Config& object) {
  const std::string given = object.text("", {"step"}, "");
  std::string names;
  for (Step& step : all_steps(std::make_index_sequence<std::variant_size_v<Step>>{})) {
    const std::string name = name_of(step);
    names.append(names.empty() ? "" : ", ").append(name);
    if (name != given) continue;
    Members members(object);
    std::visit([&](auto& any) { visit_members(any, members); }, step);
    members.finish();
    return step;
  }
  object.fail("step", "one of " + names);
}

std::vector<Step> read_steps(Config& config, const char* key) {
  std::vector<Step> steps;
  for (Config& object : config.list(key)) steps.push_back(read_step(object));
  return steps;
}

void read_rotary_of(Config& config, Stack& stack) {
  for (Config& object : config.list("rotary")) {
    Rotary& rotary = stack.rotary.emplace_back();
    Members members(object);
    members("base", rotary.scaling.base);
    members.finish();
  }
}

Stack read_written_stack(Config& config) {
  Stack stack{.name = "encoder", .prefix = "layers"};
  Members members(config);
  members("name", stack.name), members("attends_memory", stack.attends_memory), members("epsilon", stack.epsilon);
  members("prefix", stack.prefix), members("final_norm", stack.final_norm), members("head_of_rows", stack.head_of_rows);
  for (const char* key : {"model", "rotary", "input", "behind", "pooler", "head"}) members.known(key);
  members.finish();
  stack.model = read_model(config.inner("model"));
  if (!stack.final_norm.empty()) stack.model.final_norm = FinalNorm::with;
  stack.positions = stack.model.tokens;
  read_rotary_of(config, stack);
  Config input = config.inner("input");
  Members of_input(input);
  of_input("name", stack.input.name), of_input.known("steps");
  of_input.finish();
  stack.input.steps = read_steps(input, "steps");
  stack.behind = read_steps(config, "behind");
  stack.pooler = read_steps(config, "pooler");
  stack.head = read_steps(config, "head");
  const bool pools = !stack.pooler.empty() || std::any_of(stack.head.begin(), stack.head.end(), makes_one_row);
  if (stack.head_of_rows && (stack.head.empty() || pools))
    config.fail("head_of_rows", "a head, and no step \"pool\" before or in it");
  return stack;
}

void written(Config& config, Description& description) {
  Members members(config);
  members.known("model_type"), members.known("stacks"), members.known("id2label"), members.known("problem_type");
  members.finish();
  for (Config& object : config.list("stacks")) {
    Stack stack = read_written_stack(object);
    safetensors::detail::for_each_member(stack.model, [&](const std::string& name, auto&) { object.note(name, name); });
    if (stack.model.mask.relative) object.refuse("mask.relative", "Ladon reads no table of relative positions here");
    const std::size_t kinds = stack.model.kinds.count;
    if (stack.model.position.width != 0 && stack.rotary.empty()) stack.rotary.emplace_back();
    if (!stack.rotary.empty() && stack.rotary.size() != 1 && stack.rotary.size() != kinds)
      object.fail("rotary", "one object, or one for each kind of layers");
    if (kinds > 1 && stack.rotary.size() == 1) stack.rotary.resize(kinds, stack.rotary[0]);
    if (stack.attends_memory && description.stacks.empty()) object.fail("attends_memory", "a stack before it");
    if (stack.attends_memory) {
      add_decoder(object, description, std::move(stack));
    } else {
      add_stack(description, std::move(stack), object);
    }
    Stack& added = description.stacks.back();
    if (object.tokens() == 0) added.model.tokens = added.positions;  // add_stack takes at most 2048
    if (added.model.position.width != 0) added.model.position.positions = added.model.tokens;
  }
  if (description.stacks.empty()) config.fail("stacks", "a list of at least one stack");
}

constexpr Family written_families[] = {{"ladon", written, ""}};

}  // namespace

std::span<const Family> own_model() { return written_families; }

}  // namespace ladon::families
