// SPDX-License-Identifier: Apache-2.0
#include "sentences.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "safetensors.hpp"
#include "texts.hpp"
#include "utf8.hpp"

namespace ladon::families {
namespace {

constexpr std::pair<std::string_view, Pooling> poolings[] = {
    {"cls", Pooling::first}, {"mean", Pooling::mean}, {"max", Pooling::maximum}, {"lasttoken", Pooling::last}};

// Returns the only pooling of a module, or nothing if the module has several ones or one that steps lack. Newer files
// have the key pooling_mode, older ones a flag for each pooling.
std::optional<Pooling> pooling_of(Config& config) {
  const std::string mode = config.text("", {"pooling_mode"}, "");
  std::optional<Pooling> found;
  std::size_t count = 0;
  for (const auto& [name, pooling] : poolings) {
    std::string key = "pooling_mode_" + std::string(name);
    if (pooling != Pooling::last) key += pooling == Pooling::first ? "_token" : "_tokens";
    const bool chosen = mode.empty() ? config.flag("", {key.c_str()}, pooling == Pooling::mean) : mode == name;
    if (chosen) found = pooling, ++count;
  }
  for (const char* key : {"pooling_mode_mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens"})
    if (mode.empty() && config.flag("", {key}, false)) ++count;
  return count == 1 ? found : std::nullopt;
}

std::optional<After> function_of(Config& config) {
  const std::string name = config.text("", {"activation_function"}, "torch.nn.modules.activation.Tanh");
  constexpr std::pair<std::string_view, After> names[] = {{"Identity", After::nothing},
                                                          {"Tanh", After::tanh},
                                                          {"ReLU", After::relu},
                                                          {"GELU", After::gelu},
                                                          {"SiLU", After::silu}};
  for (const auto& [known, after] : names)
    if (name.substr(name.rfind('.') + 1) == known) return after;
  return std::nullopt;
}

// Returns the step of a module of a type such as "Pooling", or nothing if steps lack the module.
std::optional<Step> step_of(const std::filesystem::path& folder, const std::string& name, const std::string& type) {
  if (type == "Normalize") return UnitLength{};
  if (type != "Pooling" && type != "Dense") return std::nullopt;
  const std::filesystem::path path = folder / files::path_of(name) / "config.json";
  Config config(read_json(path), files::utf8_of(path), 0);
  if (type == "Pooling") {
    const auto pooling = pooling_of(config);
    return pooling ? std::optional<Step>(Pool{*pooling}) : std::nullopt;
  }
  const auto after = function_of(config);
  const std::size_t outputs = config.size("", {"out_features"}, 0);
  if (outputs == 0) config.fail("out_features", "at least 1");
  if (!after) return std::nullopt;
  return linear(name + "/linear", outputs, *after, bias_if(config.flag("", {"bias"}, true)));
}

}  // namespace

void read_modules(const std::filesystem::path& folder, Description& description) {
  const std::filesystem::path path = folder / "modules.json";
  if (!std::filesystem::exists(path)) return;
  std::vector<Step> steps;
  for (const nlohmann::json& module : read_json(path)) {
    Config config(module, files::utf8_of(path), 0);
    const std::string name = config.text("", {"path"}, "");
    if (name.find_first_of("/\\") != name.npos || name == "..") config.fail("path", "a folder inside the model's");
    std::string type = config.text("", {"type"}, "");
    type.erase(0, type.rfind('.') + 1);
    if (type == "Transformer") continue;
    const auto step = step_of(folder, name, type);
    if (!step)
      return description.outside.push_back("modules.json: " + files::escaped(type) + " in " + files::in_quotes(name));
    steps.push_back(*step);
  }
  description.stacks.front().pooler = std::move(steps);
  description.stacks.front().head.clear();
}

}  // namespace ladon::families
