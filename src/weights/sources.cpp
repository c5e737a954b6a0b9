// SPDX-License-Identifier: Apache-2.0
#include "sources.hpp"

#include <array>

namespace ladon::weights {
namespace {

constexpr std::array<std::string_view, 3> projections = {"query_proj", "key_proj", "value_proj"};
constexpr std::string_view packed = "in_proj";

std::string joined(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
}

// Returns the text before the names of the tensors of `member`, without the last dot.
std::string base(const Spec& spec, const Member& member, const Convention& convention, const std::string& prefix) {
  if (spec.kind == Kind::attention) return prefix;
  if (spec.kind == Kind::stack && !member.layer) {
    const auto dot = prefix.rfind('.');
    return dot == prefix.npos ? "" : prefix.substr(0, dot);
  }
  const std::string layer = member.layer ? joined(prefix, std::to_string(*member.layer)) : prefix;
  if (member.in_cross_attention) return joined(layer, convention.cross_attention);
  return member.in_attention ? joined(layer, convention.attention) : layer;
}

std::span<const Row> rows_for(const Member& member, const Convention& convention, Kind kind) {
  if (member.in_attention) return convention.of_attention;
  return kind == Kind::stack && !member.layer ? convention.beside_layers : convention.of_layer;
}

// Maps roles of tensors to names in a checkpoint. The function `of` returns the names that `rows` lists for a role,
// with `base` before each name.
struct Names {
  std::span<const Row> rows;
  std::string base;

  [[nodiscard]] std::vector<std::string> of(std::string_view role) const {
    std::vector<std::string> names;
    for (const Row& row : rows)
      if (row.role == role) names.push_back(joined(base, row.name));
    return names;
  }
};

// Adds a source for the kernel's tensor in_proj in parts: three tensors of the file that have the rows of query, key
// and value, in this order.
void add_joined(const Member& member, std::string_view tensor, const Names& names, std::vector<Source>& found) {
  Source source;
  for (std::size_t i = 0; i < projections.size(); ++i) {
    auto shape = member.shape;
    shape[0] = member.rows[i];
    const auto candidates = names.of(std::string(projections[i]).append(tensor));
    if (candidates.empty()) return;
    source.push_back({candidates.front(), shape, 0, shape[0]});
  }
  found.push_back(source);
}

// Adds a source for the kernel's tensor of one projection: some rows of the file's tensor in_proj, which joins the rows
// of query, key and value. Adds nothing if the kernel lacks one of the three projections, or if the projections have
// inputs of different widths. In both cases, in_proj cannot contain the projection.
void add_part(const Spec& spec, const Member& member, std::string_view tensor, const Names& names,
              std::vector<Source>& found) {
  Piece piece{"", member.shape, 0, member.shape[0]};
  piece.shape[0] = 0;
  for (const std::string_view projection : projections) {
    const std::string role = std::string(projection).append(tensor);
    const Member* one = spec.beside(member, role);
    if (one == nullptr || (one->shape.size() == 2 && one->shape[1] != member.shape[1])) return;
    if (role == member.role) piece.first_row = piece.shape[0];
    piece.shape[0] += one->shape[0];
  }
  for (const std::string& name : names.of(std::string(packed).append(tensor))) {
    piece.tensor = name;
    found.push_back({piece});
  }
}

}  // namespace

std::vector<Source> sources(const Spec& spec, const Member& member, const Convention& convention,
                            const std::string& prefix) {
  if (member.in_cross_attention && convention.cross_attention.empty()) return {};
  const Names names{rows_for(member, convention, spec.kind), base(spec, member, convention, prefix)};
  std::vector<Source> found;
  for (const std::string& name : names.of(member.role)) found.push_back({{name, member.shape, 0, member.shape[0]}});
  const std::string_view role = member.role;
  const std::string_view tensor = role.substr(role.rfind('_'));  // _weight or _bias
  if (member.rows.size() == projections.size()) add_joined(member, tensor, names, found);
  for (const std::string_view projection : projections)
    if (role.starts_with(projection)) add_part(spec, member, tensor, names, found);
  return found;
}

}  // namespace ladon::weights
