// SPDX-License-Identifier: Apache-2.0
#include "module_names.hpp"

#include <algorithm>
#include <vector>

namespace ladon::onnx {
namespace {

// Returns the last but one name in a text such as "['', 'encoder', 'encoder.layer.0', 'linear_1']".
std::string module_in_scopes(std::string_view scopes) {
  std::vector<std::string_view> names;
  for (std::size_t begin = scopes.find('\''); begin != scopes.npos; begin = scopes.find('\'', begin)) {
    const std::size_t end = scopes.find('\'', begin + 1);
    if (end == scopes.npos) break;
    names.push_back(scopes.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return names.size() < 2 ? "" : std::string(names[names.size() - 2]);
}

// Returns "encoder.layer.0" for "/encoder/layer.0/MatMul". A module in a Sequential repeats the name of the Sequential:
// "/head/head.0/MatMul" belongs to "head.0".
std::string module_in_path(std::string_view path) {
  std::string module, parent;
  while (path.starts_with('/')) {
    const std::size_t end = path.find('/', 1);
    if (end == path.npos) return module;
    const std::string part(path.substr(1, end - 1));
    if (!parent.empty() && part.starts_with(parent + '.')) module.erase(module.size() - parent.size());
    if (!module.empty() && !module.ends_with('.')) module += '.';
    module += part;
    parent = part;
    path.remove_prefix(end);
  }
  return "";
}

bool are_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string module_of(const Node& node) {
  return node.scopes.empty() ? module_in_path(node.name) : module_in_scopes(node.scopes);
}

bool is_parameter_name(std::string_view name) {
  if (name.starts_with('/') || name.find("::") != name.npos || are_digits(name)) return false;
  return !name.starts_with("val_") || !are_digits(name.substr(4));
}

std::string weight_beside(std::string_view bias) {
  constexpr std::string_view ending = "bias";
  if (!is_parameter_name(bias) || !bias.ends_with(ending)) return "";
  return std::string(bias.substr(0, bias.size() - ending.size())) + "weight";
}

}  // namespace ladon::onnx
