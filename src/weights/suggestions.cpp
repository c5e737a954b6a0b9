// SPDX-License-Identifier: Apache-2.0
#include "suggestions.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "edit_distance.hpp"
#include "find_tensors.hpp"

namespace ladon::weights {
namespace {

using files::Safetensors;

// Returns the bare names: the names that the kernel's tensors have in a file without a prefix, under all naming
// conventions.
std::unordered_set<std::string> bare_names(const Safetensors& file, const Spec& spec) {
  std::unordered_set<std::string> names;
  for (const Convention& convention : conventions())
    for (const Member& member : spec.members)
      for (const Source& source : Naming(file, spec, convention, "").sources(member))
        for (const Piece& piece : source) names.insert(piece.tensor);
  return names;
}

// Searches the file for names that consist of a prefix, a dot and a bare name. Returns each prefix, and the number of
// bare names that follow the prefix. Skips names that are longer than the longest prefix and the longest bare name
// together, so that time and memory are linear in the number of tensors.
std::map<std::string, std::size_t> prefixes_in(const Safetensors& file, const Spec& spec) {
  constexpr std::size_t longest_prefix = 200;  // a message would truncate a longer prefix
  const auto bare = bare_names(file, spec);
  std::size_t longest = 0;
  for (const std::string& name : bare) longest = std::max(longest, name.size());
  std::map<std::string, std::size_t> prefixes;
  for (const auto& [name, tensor] : file.tensors()) {
    if (name.size() > longest_prefix + 1 + longest) continue;
    if (bare.contains(name)) ++prefixes[""];
    for (auto dot = name.find('.'); dot <= longest_prefix; dot = name.find('.', dot + 1))
      if (bare.contains(name.substr(dot + 1))) ++prefixes[name.substr(0, dot)];
  }
  return prefixes;
}

// Returns the prefixes that prefixes_in finds, those with the most bare names. The caller searches for all tensors of
// the kernel under each prefix, so the product of the two numbers is limited. A usual checkpoint is below the limit.
std::vector<std::string> frequent_prefixes(const Safetensors& file, const Spec& spec) {
  const std::size_t most = 10 + 100'000 / (spec.members.size() * conventions().size());
  const auto prefixes = prefixes_in(file, spec);
  std::vector<std::string> frequent;
  frequent.reserve(prefixes.size());
  for (const auto& [prefix, count] : prefixes) frequent.push_back(prefix);
  std::ranges::sort(frequent, [&](const std::string& a, const std::string& b) {
    const std::size_t count_a = prefixes.at(a), count_b = prefixes.at(b);
    return count_a != count_b ? count_a > count_b : a < b;
  });
  frequent.resize(std::min(most, frequent.size()));
  std::ranges::sort(frequent);
  return frequent;
}

// Finds the prefixes under which the file has the most tensors of the kernel. Returns these prefixes if each of them
// has more than `count` tensors. Otherwise returns no prefix.
std::vector<std::string> best_prefixes(const Safetensors& file, const Spec& spec, std::size_t count) {
  std::vector<std::string> best;
  for (const std::string& prefix : frequent_prefixes(file, spec)) {
    std::size_t members = 0;
    for (const Convention& convention : conventions())
      members = std::max(members, match(file, spec, convention, prefix).present);
    if (members > count) best.clear();
    if (members > count || (members == count && !best.empty())) best.push_back(prefix);
    count = std::max(count, members);
  }
  return best;
}

}  // namespace

std::string other_prefixes(const Safetensors& file, const Spec& spec, const std::string& prefix, std::size_t count) {
  constexpr std::size_t most = 5;
  std::vector<std::string> best = best_prefixes(file, spec, count);
  std::ranges::sort(best, {}, [&](const std::string& other) {
    return std::pair(files::edit_distance(prefix, other), std::string_view(other));
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, best.size()); ++i)
    text += (i == 0 ? "such tensors are below prefix " : ", ") + files::in_quotes(best[i]);
  if (best.size() > most) text += " and " + std::to_string(best.size() - most) + " more";
  return text;
}

}  // namespace ladon::weights
