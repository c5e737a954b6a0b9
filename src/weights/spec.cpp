// SPDX-License-Identifier: Apache-2.0
#include "spec.hpp"

#include <algorithm>
#include <charconv>
#include <ladon/detail/panel/rows.hpp>
#include <numeric>
#include <sstream>
#include <utility>

#include "mapped_file.hpp"
#include "problems.hpp"
#include "safetensors.hpp"

namespace ladon::weights {
namespace {

using files::Error, files::in_quotes;

enum class Place { attention, layer, beside_layers };

struct Role {
  std::string_view name;
  Place place;
  std::size_t dimensions;
};

constexpr Role roles[] = {
    {"in_proj_weight", Place::attention, 2},    {"in_proj_bias", Place::attention, 1},
    {"query_proj_weight", Place::attention, 2}, {"query_proj_bias", Place::attention, 1},
    {"key_proj_weight", Place::attention, 2},   {"key_proj_bias", Place::attention, 1},
    {"value_proj_weight", Place::attention, 2}, {"value_proj_bias", Place::attention, 1},
    {"out_proj_weight", Place::attention, 2},   {"out_proj_bias", Place::attention, 1},
    {"linear1_weight", Place::layer, 2},        {"linear1_bias", Place::layer, 1},
    {"linear2_weight", Place::layer, 2},        {"linear2_bias", Place::layer, 1},
    {"gate_weight", Place::layer, 2},           {"gate_bias", Place::layer, 1},
    {"norm1_weight", Place::layer, 1},          {"norm1_bias", Place::layer, 1},
    {"norm2_weight", Place::layer, 1},          {"norm2_bias", Place::layer, 1},
    {"norm3_weight", Place::layer, 1},          {"norm3_bias", Place::layer, 1},
    {"norm_weight", Place::beside_layers, 1},   {"norm_bias", Place::beside_layers, 1},
};

// Reads a decimal number from 0 to `largest`, without leading zeros. No extent of a model exceeds `largest`.
std::optional<std::uint64_t> number(std::string_view text) {
  constexpr std::uint64_t largest = 1'000'000'000;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_all = error == std::errc() && end == text.data() + text.size();
  if (!is_all || value > largest || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return value;
}

// Removes "layers.N." from the beginning of the name, and returns N. Returns nothing if the name begins differently.
std::optional<std::size_t> take_layer(std::string_view& name) {
  constexpr std::string_view layers = "layers.";
  const auto dot = name.starts_with(layers) ? name.find('.', layers.size()) : name.npos;
  if (dot == name.npos) return std::nullopt;
  const auto layer = number(name.substr(layers.size(), dot - layers.size()));
  if (layer) name.remove_prefix(dot + 1);
  return layer;
}

// Removes "attention.", "self_attention." or "cross_attention." from the beginning of the name, and returns the removed
// text, or "" if the name begins differently.
std::string_view take_attention(std::string_view& name) {
  for (const std::string_view attention : {"attention.", "self_attention.", "cross_attention."}) {
    if (!name.starts_with(attention)) continue;
    name.remove_prefix(attention.size());
    return attention;
  }
  return "";
}

std::pair<Member, const Role*> parse_name(const std::string& name) {
  Member member;
  member.name = name;
  std::string_view rest = name;
  member.layer = take_layer(rest);
  const std::string_view attention = take_attention(rest);
  const bool says_attention = !attention.empty();
  member.role = rest;
  const auto* role = std::ranges::find(roles, rest, &Role::name);
  if (role == std::end(roles) || (says_attention && role->place != Place::attention) ||
      (member.layer && !says_attention && role->place != Place::layer))
    throw Error(
        "expected a member such as in_proj_weight, attention.in_proj_weight, layers.0.norm1_bias or norm_weight"
        ", found " +
        in_quotes(name));
  member.in_attention = role->place == Place::attention;
  member.in_cross_attention = attention == "cross_attention.";
  return {member, role};
}

Kind kind_of(const Member& member) {
  if (member.layer || member.role == "norm_weight" || member.role == "norm_bias") return Kind::stack;
  return member.role == member.name && member.in_attention ? Kind::attention : Kind::layer;
}

std::vector<std::uint64_t> parse_parts(const std::string& dim) {
  std::vector<std::uint64_t> parts;
  std::string_view rest = dim;
  for (bool more = true; more;) {
    const auto plus = rest.find('+');
    const auto part = number(rest.substr(0, plus));
    if (!part || *part == 0)
      throw Error("expected sizes from 1 to 1000000000, or a sum of them such as 384+384+384, found " + in_quotes(dim));
    parts.push_back(*part);
    more = plus != rest.npos;
    if (more) rest.remove_prefix(plus + 1);
  }
  return parts;
}

void check_parts(const Member& member, std::size_t dimension, std::size_t parts) {
  const bool is_packed = member.role.starts_with("in_proj");
  if (dimension == 0 && is_packed && parts != 3 && parts != 1)
    throw Error("expected the rows of " + member.name + " as query+key+value, found " + std::to_string(parts) +
                " parts");
  if (parts != 1 && !(dimension == 0 && is_packed)) throw Error("only the rows of in_proj are a sum");
}

Member parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string name, dim, type;
  words >> name;
  auto [member, role] = parse_name(name);
  while (words >> dim) {
    if (dim == "rotated" && member.element == Element::int8 && !member.rotated) {
      member.rotated = true;
      type += " rotated";
      continue;
    }
    if (member.element != Element::float32)
      throw Error("expected the end of the line behind " + type + ", found " + in_quotes(dim));
    if (dim == "bfloat16" || dim == "int8") {
      member.element = dim == "int8" ? Element::int8 : Element::bfloat16;
      type = dim;
      continue;
    }
    const auto parts = parse_parts(dim);
    check_parts(member, member.shape.size(), parts.size());
    if (member.shape.empty()) member.rows = parts;
    member.shape.push_back(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}));
  }
  if (member.shape.size() != role->dimensions)
    throw Error("expected " + std::string(role->dimensions == 1 ? "one dimension" : "two dimensions") + " of " + name +
                ", found " + std::to_string(member.shape.size()));
  if (member.rotated && member.shape.size() == 2 && member.shape[1] % ladon::detail::rotated_block != 0)
    throw Error("expected a multiple of 8 columns of " + name + ", found " + std::to_string(member.shape[1]));
  if (member.element != Element::float32 && role->dimensions != 2)
    throw Error("only a weight of two dimensions can be " + type + ", and " + name + " has one");
  return member;
}

void add_line(Spec& spec, const std::string& line) {
  constexpr const char* names[] = {"an attention", "a layer", "a stack of layers"};
  const Member member = parse_line(line);
  const Kind kind = kind_of(member);
  if (spec.members.empty()) spec.kind = kind;
  if (kind != spec.kind)
    throw Error("expected members of " + std::string(names[static_cast<int>(spec.kind)]) + ", as " +
                spec.members.front().name + " is one, found " + member.name);
  if (!spec.places.emplace(member.name, spec.members.size()).second) throw Error(member.name + " appears twice");
  spec.members.push_back(member);
}

std::string content_of(const std::filesystem::path& file) {
  const files::MappedFile read(file, files::Load::copy);
  return {reinterpret_cast<const char*>(read.bytes().data()), read.bytes().size()};
}

}  // namespace

const Member* Spec::beside(const Member& member, std::string_view role) const {
  const std::string name = member.name.substr(0, member.name.size() - member.role.size()).append(role);
  const auto found = places.find(name);
  return found == places.end() ? nullptr : &members[found->second];
}

Spec read_spec(const std::filesystem::path& file) { return parse_spec(content_of(file), file.string()); }

Spec parse_spec(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  Spec spec;
  std::vector<std::string> problems;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    try {
      add_line(spec, line);
    } catch (const Error& error) {
      problems.push_back("line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (spec.members.empty() && problems.empty()) problems.emplace_back("expected a line for each tensor, found no line");
  throw_problems(name + ": cannot be used as SPEC", problems);
  return spec;
}

}  // namespace ladon::weights
