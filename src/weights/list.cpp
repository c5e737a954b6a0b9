// SPDX-License-Identifier: Apache-2.0
#include "list.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "next_call.hpp"
#include "table.hpp"

namespace ladon::weights {
namespace {

// Returns a line for each matrix that is equal to an earlier one.
std::string equal_matrices(const files::Safetensors& file) {
  using Content = std::tuple<std::string_view, std::vector<std::uint64_t>, std::string_view>;  // dtype, shape, bytes
  std::map<Content, std::string_view> first;
  std::string text;
  for (const auto& [name, tensor] : file.tensors()) {
    const auto bytes = file.bytes(tensor);
    if (tensor.shape.size() != 2 || bytes.empty()) continue;
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [found, is_new] = first.emplace(Content(tensor.dtype, tensor.shape, content), name);
    if (!is_new) text += "tied: " + files::in_quotes(name) + " is equal to " + files::in_quotes(found->second) + '\n';
  }
  return text;
}

// Returns a line if the config says that the head of the model is its table of embeddings, and the file has no head.
std::string absent_head(const files::Safetensors& file, const std::string& config) {
  const auto json = nlohmann::json::parse(config, nullptr, false);
  const auto& names = file.tensors();
  const auto has = [&](std::string_view part) {
    return std::ranges::any_of(names, [&](const auto& named) { return named.first.find(part) != std::string::npos; });
  };
  if (!json.is_object() || json.value("tie_word_embeddings", nlohmann::json()) != true || has("lm_head")) return "";
  for (const char* table : {"embed_tokens.weight", "wte.weight", "word_embeddings.weight", "shared.weight"}) {
    const auto found = std::ranges::find_if(names, [&](const auto& named) { return named.first.ends_with(table); });
    if (found != names.end())
      return "tied: the file has no head; by tie_word_embeddings of config.json, it is " +
             files::in_quotes(found->first) + '\n';
  }
  return "";
}

// Returns the command that imports the model, or the calls that load its layers.
std::string next_call(const files::Safetensors& file, const std::string& config) {
  if (!config.empty())
    return "next: ladon-import FOLDER --cpp DIR writes a program of the whole model, and ladon-weights describe FOLDER "
           "prints its layers in C++\n";
  return next_calls(file);
}

}  // namespace

std::string list(const files::Safetensors& file, const std::string& config) {
  std::vector<Cells> rows{{"name", "dtype", "shape", "bytes"}};
  for (const auto& [name, tensor] : file.tensors())
    rows.push_back({files::escaped(name), files::escaped(tensor.dtype), files::shown(tensor.shape),
                    std::to_string(tensor.end - tensor.begin)});
  return table(rows) + equal_matrices(file) + absent_head(file, config) + next_call(file, config);
}

}  // namespace ladon::weights
