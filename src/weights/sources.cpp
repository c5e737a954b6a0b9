// SPDX-License-Identifier: Apache-2.0
#include "sources.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace ladon::weights {
namespace {

constexpr std::array<std::string_view, 3> projections = {"query_proj", "key_proj", "value_proj"};
constexpr std::string_view packed = "in_proj";

std::string joined(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
}

std::string parent(const std::string& prefix) {
  const auto dot = prefix.rfind('.');
  return dot == prefix.npos ? "" : prefix.substr(0, dot);
}

// Returns "linear1" and "weight" for linear1_weight, and the role and "" for a role such as scale1.
std::pair<std::string_view, std::string_view> part_and_tensor(std::string_view role) {
  const auto underscore = role.rfind('_');
  const std::string_view tensor = underscore == role.npos ? "" : role.substr(underscore + 1);
  if (tensor != "weight" && tensor != "bias") return {role, ""};
  return {role.substr(0, underscore), tensor};
}

// Returns whether the list `parts`, such as "gate+linear1", has the part.
bool has_part(std::string_view parts, std::string_view part) {
  for (auto plus = parts.find('+'); plus != parts.npos; plus = parts.find('+')) {
    if (parts.substr(0, plus) == part) return true;
    parts.remove_prefix(plus + 1);
  }
  return parts == part;
}

// The order of the rows of in_proj: in each block, the rows of its queries, keys and values.
struct Arrangement {
  std::array<std::uint64_t, 3> rows;  // of all queries, keys and values
  std::uint64_t blocks = 1;
  bool values_first = false;
  bool operator==(const Arrangement&) const = default;

  // Returns the numbers of the three projections in the order in which a block has them.
  [[nodiscard]] std::array<std::size_t, 3> order() const {
    return values_first ? std::array<std::size_t, 3>{0, 2, 1} : std::array<std::size_t, 3>{0, 1, 2};
  }
  [[nodiscard]] std::uint64_t all_rows() const { return rows[0] + rows[1] + rows[2]; }
  [[nodiscard]] std::uint64_t rows_of_block(std::size_t projection) const { return rows[projection] / blocks; }

  // Returns the number of the row of in_proj that is the first one of a projection's rows in a block.
  [[nodiscard]] std::uint64_t first_row(std::size_t projection, std::uint64_t block) const {
    std::uint64_t row = block * (all_rows() / blocks);
    for (const std::size_t before : order()) {
      if (before == projection) break;
      row += rows_of_block(before);
    }
    return row;
  }

  // Appends the rows of a projection to `source`. `piece` has the name and the shape of in_proj.
  void append(std::size_t projection, std::uint64_t first, std::uint64_t count, Piece piece, Source& source) const {
    while (count > 0) {
      const std::uint64_t of_block = rows_of_block(projection), block = first / of_block, before = first % of_block;
      piece.first_row = first_row(projection, block) + before;
      piece.rows = std::min(count, of_block - before);
      if (!source.empty() && source.back().first_row + source.back().rows == piece.first_row)
        source.back().rows += piece.rows;
      else
        source.push_back(piece);
      first += piece.rows;
      count -= piece.rows;
    }
  }
};

// Returns the rows of `member`, which is in_proj or one projection, in a tensor of the file with the arrangement
// `in_file`. `piece` has the name and the shape of this tensor.
Source rows_of_in_proj(const Member& member, std::string_view part, const std::array<std::uint64_t, 3>& rows,
                       const Arrangement& in_file, const Piece& piece) {
  Source source;
  const auto* const projection = std::ranges::find(projections, part);
  if (projection != projections.end()) {
    const auto number = static_cast<std::size_t>(projection - projections.begin());
    in_file.append(number, 0, rows[number], piece, source);
    return source;
  }
  const Arrangement wanted{rows, member.blocks, member.values_first};
  for (std::uint64_t block = 0; block < wanted.blocks; ++block)
    for (const std::size_t i : wanted.order())
      in_file.append(i, block * wanted.rows_of_block(i), wanted.rows_of_block(i), piece, source);
  return source;
}

// Returns how many consecutive names prefix.0, prefix.1, .. the file has.
std::size_t count_numbers(const files::Safetensors& file, const std::string& prefix) {
  std::size_t count = 0;
  for (;; ++count) {
    const std::string beginning = joined(prefix, std::to_string(count)) + ".";
    const auto found = file.tensors().lower_bound(beginning);
    if (found == file.tensors().end() || !found->first.starts_with(beginning)) return count;
  }
}

}  // namespace

std::uint64_t integer_root(std::uint64_t square) {
  std::uint64_t root = 0;
  while ((root + 1) * (root + 1) <= square) ++root;
  return root;
}

Naming::Naming(const files::Safetensors& file, const Spec& spec, const Convention& convention, std::string prefix)
    : file_(&file), spec_(&spec), convention_(&convention), prefix_(std::move(prefix)) {
  if (convention.set.empty() || spec.kind != Kind::stack) return;
  for (const Member& member : spec.members) layers_ = std::max(layers_, member.layer.value_or(0) + 1);
  sets_ = count_numbers(file, prefix_);
  layers_of_set_ = std::max<std::size_t>(1, count_numbers(file, joined(prefix_, "0." + std::string(convention.set))));
}

std::string Naming::layer(std::size_t number) const {
  if (convention_->set.empty()) return joined(prefix_, std::to_string(number));
  const std::size_t runs = std::max<std::size_t>(1, layers_ / layers_of_set_);
  const std::string set = std::to_string(number / layers_of_set_ * sets_ / runs);
  return joined(joined(joined(prefix_, set), convention_->set), std::to_string(number % layers_of_set_));
}

bool Naming::is_first_layer(const Member& member) const {
  return member.layer ? *member.layer == 0 : prefix_ == "0" || prefix_.ends_with(".0");
}

// Returns the text before the names of the tensors of `member`, without the last dot.
std::string Naming::base(const Member& member) const {
  if (spec_->kind == Kind::attention) return prefix_;
  if (spec_->kind == Kind::stack && !member.layer) return parent(prefix_);
  const std::string of_layer = member.layer ? layer(*member.layer) : prefix_;
  if (member.in_cross_attention) return joined(of_layer, convention_->cross_attention);
  return member.in_attention ? joined(of_layer, convention_->attention) : of_layer;
}

std::array<Rows, 2> Naming::tables(const Member& member) const {
  if (member.in_attention) return {convention_->of_attention, {}};
  if (spec_->kind == Kind::stack && !member.layer) return {convention_->beside_layers, {}};
  return convention_->of_layer;
}

std::string Naming::full_name(const std::string& beginning, std::string_view name) {
  return name.starts_with('^') ? joined(parent(beginning), name.substr(1)) : joined(beginning, name);
}

// Returns the rows of `member` in a tensor that has the rows of several parts.
Source Naming::fused(const Member& member, std::string_view parts, const std::string& name) const {
  const std::string tensor(part_and_tensor(member.role).second);
  Piece piece{name, member.shape, 0, member.shape[0], convention_->in_out && member.shape.size() == 2};
  piece.shape[0] = 0;
  for (std::string_view rest = parts; !rest.empty();) {
    const std::string role = std::string(rest.substr(0, rest.find('+'))) + "_" + tensor;
    const Member* part = spec_->beside(member, role);
    if (part == nullptr) return {};
    if (role == member.role) piece.first_row = piece.shape[0];
    piece.shape[0] += part->shape[0];
    rest = rest.find('+') == rest.npos ? "" : rest.substr(rest.find('+') + 1);
  }
  return {piece};
}

// Returns the norms of all heads, which are a tensor each. `name` has a star in place of the number of the head.
Source Naming::one_for_each_head(const Member& member, const std::string& name) const {
  const std::string tensor(part_and_tensor(member.role).second);
  const Member* keys = spec_->beside(member, "key_norm_" + tensor);
  const std::uint64_t width = keys == nullptr || spec_->kv_heads == 0 ? 0 : keys->shape[0] / spec_->kv_heads;
  Source source;
  for (std::uint64_t head = 0; width != 0 && head < member.shape[0] / width; ++head) {
    const auto star = name.find('*');
    source.push_back({name.substr(0, star) + std::to_string(head) + name.substr(star + 1), {width}, 0, width});
  }
  return source;
}

// Returns the sources of a role that one Row each describes. The role is the role of `member`, or of one of its parts.
std::vector<Source> Naming::whole(const Member& member, std::string_view role) const {
  const auto names = part_and_tensor(role);  // clang++ 14 captures no structured bindings
  const std::string_view part = names.first, tensor = names.second;
  std::vector<Source> found;
  for_each_row(member, [&](const Row& row, std::string name) {
    if (row.cut == Cut::unused || (row.cut == Cut::absent_in_first && !is_first_layer(member))) return;
    if (row.role != role) {
      if (tensor.empty() || !has_part(row.role, part)) return;
      name.append(".").append(tensor);
    }
    const bool absent = row.cut == Cut::absent || row.cut == Cut::absent_in_first;
    const std::string scaling = row.cut == Cut::times_scaling ? joined(base(member), "scaling") : "";
    const bool in_out = convention_->in_out && member.shape.size() == 2;
    const bool of_heads = part == "query_norm" || part == "key_norm";
    Source source{{name, member.shape, 0, member.shape[0], in_out, scaling, of_heads, absent}};
    if (name.find('*') != name.npos) source = one_for_each_head(member, name);
    if (row.role.find('+') != row.role.npos) source = fused(member, row.role, name);
    if (!source.empty()) found.push_back(std::move(source));
  });
  return found;
}

// Adds the sources for in_proj, or for one projection, in the file's in_proj. Adds nothing if the kernel lacks one of
// the three projections, or if the projections have inputs of different widths.
void Naming::add_from_in_proj(const Member& member, std::vector<Source>& found) const {
  const auto names = part_and_tensor(member.role);
  const std::string_view part = names.first, tensor = names.second;
  Arrangement arrangement{};
  for (std::size_t i = 0; i < projections.size(); ++i) {
    const Member* one = spec_->beside(member, std::string(projections[i]).append("_").append(tensor));
    if (part != packed && (one == nullptr || (one->shape.size() == 2 && one->shape[1] != member.shape[1]))) return;
    arrangement.rows[i] = part == packed ? member.rows[i] : one->shape[0];
  }
  const std::string exact = std::string(packed).append("_").append(tensor);
  for_each_row(member, [&](const Row& row, std::string name) {
    if (row.role != packed && row.role != exact) return;
    if (row.role == packed) name.append(".").append(tensor);
    Arrangement in_file = arrangement;
    if (row.cut == Cut::kv_blocks) in_file.blocks = spec_->kv_heads;
    if (row.cut == Cut::four_blocks) in_file.blocks = 4, in_file.values_first = true;
    if (in_file.blocks == 0 || std::ranges::any_of(in_file.rows, [&](auto rows) { return rows % in_file.blocks != 0; }))
      return;
    Piece piece{name, member.shape, 0, 0, convention_->in_out && member.shape.size() == 2};
    piece.shape[0] = arrangement.all_rows();
    found.push_back(rows_of_in_proj(member, part, arrangement.rows, in_file, piece));
  });
}

// Adds a source for in_proj: three tensors of the file, with the rows of queries, keys and values.
void Naming::add_from_projections(const Member& member, std::vector<Source>& found) const {
  const auto tensor = part_and_tensor(member.role).second;
  std::array<Piece, 3> pieces;
  for (std::size_t i = 0; i < projections.size(); ++i) {
    Member one = member;
    one.shape[0] = member.rows[i];
    const auto candidates = whole(one, std::string(projections[i]).append("_").append(tensor));
    if (candidates.empty()) return;
    pieces[i] = candidates.front().front();
  }
  const Arrangement wanted{{member.rows[0], member.rows[1], member.rows[2]}, member.blocks, member.values_first};
  Source source;
  for (std::uint64_t block = 0; block < member.blocks; ++block)
    for (const std::size_t i : wanted.order()) {
      source.push_back(pieces[i]);
      source.back().rows = wanted.rows_of_block(i);
      source.back().first_row = block * wanted.rows_of_block(i);
    }
  found.push_back(std::move(source));
}

// Returns BEiT's table (distances, heads) of an image of side * side patches, whose tokens are a class token and the
// patches. The kernel may have room for more tokens.
Source Naming::distances_of_image(const Member& member, Piece table) const {
  std::uint64_t side = integer_root(integer_root(member.shape[1]) - 1);
  const auto of_image = [](std::uint64_t patches) { return (2 * patches - 1) * (2 * patches - 1) + 3; };
  const auto found = file_->tensors().find(table.tensor);
  const bool is_table = found != file_->tensors().end() && found->second.shape.size() == 2;
  while (is_table && side > 1 && found->second.shape[0] < of_image(side)) --side;
  table.shape = {of_image(side), member.shape[0]};
  table.rows = table.shape[0];
  return {table};
}

std::vector<Source> Naming::sources(const Member& member) const {
  if (member.in_cross_attention && convention_->cross_attention.empty()) return {};
  const std::string_view part = part_and_tensor(member.role).first;
  std::vector<Source> found;
  if (part == packed) {
    add_from_in_proj(member, found);
    add_from_projections(member, found);
    return found;
  }
  found = whole(member, member.role);
  if (member.role == "activation" && !found.empty()) {  // xIELU: two tensors of one number each
    Source both;
    for (const Source& source : found)
      both.push_back({.tensor = source.front().tensor, .shape = {1}, .first_row = 0, .rows = 1, .any_shape = true});
    return {both};
  }
  if (member.role == "attention_bias") {
    if (member.shape[1] < 4) return {};  // room for fewer than two tokens
    for (Source& source : found) source = distances_of_image(member, source.front());
  }
  if (std::ranges::find(projections, part) != projections.end()) add_from_in_proj(member, found);
  return found;
}

}  // namespace ladon::weights
