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
#include "utf8.hpp"

namespace ladon::weights {
namespace {

using files::Error, files::in_quotes;

enum class Place { attention, layer, beside_layers };

struct Role {
  std::string_view name;
  Place place;
  std::size_t dimensions;
  bool may_be_flat = false;  // true: one dimension is accepted, too
};

constexpr Role roles[] = {
    {"in_proj_weight", Place::attention, 2},
    {"in_proj_bias", Place::attention, 1},
    {"query_proj_weight", Place::attention, 2},
    {"query_proj_bias", Place::attention, 1},
    {"key_proj_weight", Place::attention, 2},
    {"key_proj_bias", Place::attention, 1},
    {"value_proj_weight", Place::attention, 2},
    {"value_proj_bias", Place::attention, 1},
    {"out_proj_weight", Place::attention, 2},
    {"out_proj_bias", Place::attention, 1},
    {"query_norm_weight", Place::attention, 2, true},
    {"query_norm_bias", Place::attention, 2, true},
    {"key_norm_weight", Place::attention, 2, true},
    {"key_norm_bias", Place::attention, 2, true},
    {"output_norm1_weight", Place::layer, 1},
    {"output_norm1_bias", Place::layer, 1},
    {"output_norm2_weight", Place::layer, 1},
    {"output_norm2_bias", Place::layer, 1},
    {"output_norm3_weight", Place::layer, 1},
    {"output_norm3_bias", Place::layer, 1},
    {"scale1", Place::layer, 1},
    {"scale2", Place::layer, 1},
    {"activation", Place::layer, 1},
    {"attention_bias", Place::layer, 2},  // (heads, pairs of tokens)
    {"linear1_weight", Place::layer, 2},
    {"linear1_bias", Place::layer, 1},
    {"linear2_weight", Place::layer, 2},
    {"linear2_bias", Place::layer, 1},
    {"gate_weight", Place::layer, 2},
    {"gate_bias", Place::layer, 1},
    {"norm1_weight", Place::layer, 1},
    {"norm1_bias", Place::layer, 1},
    {"norm2_weight", Place::layer, 1},
    {"norm2_bias", Place::layer, 1},
    {"norm3_weight", Place::layer, 1},
    {"norm3_bias", Place::layer, 1},
    {"norm_weight", Place::beside_layers, 1},
    {"norm_bias", Place::beside_layers, 1},
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
  if (dimension == 0 && is_packed && parts != 3)
    throw Error("expected the rows of " + member.name + " as query+key+value, found " + std::to_string(parts) +
                (parts == 1 ? " part" : " parts"));
  if (parts != 1 && !(dimension == 0 && is_packed)) throw Error("only the rows of in_proj are a sum");
}

// Reads a word behind the name of a member that is no extent. `words` are the words after it. Returns false if the word
// is an extent.
bool read_option(const std::string& word, std::istringstream& words, Member& member) {
  if (word == "in_out" && !member.in_out) return member.in_out = true;
  if (word == "values_first" && !member.values_first) return member.values_first = true;
  if (word == "blocks" && member.blocks == 1) {
    std::string count;
    words >> count;
    member.blocks = number(count).value_or(0);
    if (member.blocks == 0 || std::ranges::any_of(member.rows, [&](auto rows) { return rows % member.blocks != 0; }))
      throw Error("expected a number of blocks that divides the rows of " + member.name + ", found " +
                  in_quotes(count));
    return true;
  }
  return false;
}

// Reads the type of the elements. `type` is the text that was read before. Returns false if the word is no type.
bool read_type(const std::string& word, std::string& type, Member& member) {
  if (word == "rotated" && member.is_quantised() && !member.rotated) {
    member.rotated = true;
    type += " rotated";
    return true;
  }
  if (!type.empty()) throw Error("expected the end of the line behind " + type + ", found " + in_quotes(word));
  if (word != "bfloat16" && word != "int8" && word != "int4") return false;
  member.element = word == "int8" ? Element::int8 : word == "int4" ? Element::int4 : Element::bfloat16;
  type = word;
  return true;
}

void check_member(const Member& member, const Role& role, const std::string& type) {
  const std::size_t dimensions = member.shape.size();
  if (dimensions != role.dimensions && !(role.may_be_flat && dimensions == 1))
    throw Error("expected " + std::string(role.dimensions == 1 ? "one dimension" : "two dimensions") + " of " +
                member.name + ", found " + std::to_string(dimensions));
  if (member.rotated && dimensions == 2 && member.shape[1] % ladon::detail::rotated_block != 0)
    throw Error("expected a multiple of 8 columns of " + member.name + ", found " + std::to_string(member.shape[1]));
  if (!type.empty() && (dimensions != 2 || role.may_be_flat))
    throw Error("only a weight of two dimensions can be " + type + ", and " + member.name + " has one");
  if (!type.empty() && member.in_out)
    throw Error("only a float32 weight can be in_out, and " + member.name + " is " + type);
}

Member parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string name, word, type;
  words >> name;
  auto [member, role] = parse_name(name);
  while (words >> word) {
    if (read_type(word, type, member) || read_option(word, words, member)) continue;
    const auto parts = parse_parts(word);
    check_parts(member, member.shape.size(), parts.size());
    if (member.shape.empty()) member.rows = parts;
    member.shape.push_back(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}));
  }
  check_member(member, *role, type);
  return member;
}

// Reads "kv_heads <n>". Returns 0 if the line is no such line.
std::uint64_t parse_kv_heads(const std::string& line) {
  std::istringstream words(line);
  std::string name, count, more;
  words >> name >> count;
  if (name != "kv_heads") return 0;
  const auto heads = number(count);
  if (!heads || *heads == 0 || words >> more) throw Error("expected a number of heads, found " + in_quotes(line));
  return *heads;
}

void add_line(Spec& spec, const std::string& line) {
  constexpr const char* names[] = {"an attention", "a layer", "a stack of layers"};
  if (const auto heads = parse_kv_heads(line); heads != 0) {
    spec.kv_heads = heads;
    return;
  }
  const Member member = parse_line(line);
  const Kind kind = kind_of(member);
  if (spec.members.empty()) spec.kind = kind;
  if (kind != spec.kind)
    throw Error("expected members of " + std::string(names[static_cast<int>(spec.kind)]) + ", as " +
                spec.members.front().name + " is one, found " + member.name);
  if (!spec.add(member)) throw Error(member.name + " appears twice");
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

bool Spec::add(const Member& member) {
  if (!places.emplace(member.name, members.size()).second) return false;
  members.push_back(member);
  return true;
}

Spec Spec::first_layer() const {
  Spec first{.kind = kind, .members = {}, .places = {}, .kv_heads = kv_heads};
  for (const Member& member : members)
    if (member.layer.value_or(0) == 0) first.add(member);
  return first.members.empty() ? *this : first;
}

Spec read_spec(const std::filesystem::path& file) { return parse_spec(content_of(file), files::utf8_of(file)); }

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
