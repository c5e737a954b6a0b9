// SPDX-License-Identifier: Apache-2.0
// Implements detail::find, which finds the tensors of a layer in a checkpoint, detail::find_part and detail::find_view.
// These functions call functions of src/weights.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ladon/safetensors.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_order.hpp"
#include "find_tensors.hpp"
#include "int8_weights.hpp"
#include "member_bytes.hpp"
#include "problems.hpp"
#include "safetensors.hpp"
#include "spec.hpp"
#include "tensor_size.hpp"

namespace ladon::safetensors::detail {
namespace {

// Returns the address of the rows of `piece` if the file has them with the dtype, aligned, and in the byte order of
// this machine. Otherwise returns null.
const std::byte* in_place(const File& file, const weights::Piece& piece, std::string_view dtype) {
  const auto* const address = weights::rows_of(file, piece).data();
  const std::uint64_t width = weights::bytes_of_element(dtype);
  const bool is_usable =
      reinterpret_cast<std::uintptr_t>(address) % width == 0 && (files::is_little_endian || width == 1);
  return file.tensors().at(piece.tensor).dtype == dtype && is_usable ? address : nullptr;
}

// File::kept, which only `find` and `find_part` may call.
using Keep = std::function<const std::byte*(const std::string&, const std::function<std::string()>&)>;

// Appends the addresses of the weights, the scales and the sums of the rows. `address` is the address of the weights in
// the file, or null if they are converted.
void add_int8(const File& file, const weights::Member& member, const weights::Source& source, const std::byte* address,
              const Keep& kept, std::vector<const std::byte*>& values) {
  const auto keep = [&](const char* what, std::string weights::Int8Member::* part) {
    return kept(weights::key_of(member, source) + what,
                [&] { return weights::int8_member(file, member, source).*part; });
  };
  const std::byte* scales = nullptr;
  if (address != nullptr) {
    weights::Piece of_scales = source.front();
    of_scales.tensor = weights::scale_name(of_scales.tensor);
    scales = in_place(file, of_scales, "F32");
  }
  values.push_back(address != nullptr ? address : keep(" weight", &weights::Int8Member::weight));
  values.push_back(scales != nullptr ? scales : keep(" scale", &weights::Int8Member::scale));
  values.push_back(keep(" row_sum", &weights::Int8Member::row_sum));
}

// Appends the addresses of the tensors of a member. The file holds converted copies.
void add_values(const File& file, const weights::Member& member, const weights::Source& source, const Keep& kept,
                std::vector<const std::byte*>& values) {
  constexpr std::string_view dtypes[] = {"F32", "BF16", "I8", "U8"};
  const auto* const address = weights::is_one_tensor(member, source)
                                  ? in_place(file, source.front(), dtypes[static_cast<int>(member.element)])
                                  : nullptr;
  if (member.is_quantised()) {
    add_int8(file, member, source, address, kept, values);
  } else {
    const auto convert = [&] { return weights::bytes_of_member(file, member, source); };
    values.push_back(address != nullptr ? address : kept(weights::key_of(member, source), convert));
  }
}

// Returns the name of the weight or the bias of a part that the file has, or "".
std::string name_in(const File& file, const std::string& part, bool is_bias) {
  // In old checkpoints, a norm has the tensors gamma and beta. A weight may be a tensor without a module.
  for (const char* ending : {is_bias ? ".bias" : ".weight", is_bias ? ".beta" : ".gamma", ""})
    if ((!is_bias || *ending != 0) && file.tensors().contains(part + ending)) return part + ending;
  return "";
}

void add_left_out(const std::vector<std::string>& names, std::vector<std::string>& problems) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + files::in_quotes(names[i]);
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  if (!names.empty())
    problems.push_back("the layer has no place for " + text + "; with {.strict = false}, load ignores them");
}

bool has_norm(const weights::Spec& spec) {
  return std::ranges::any_of(spec.members, [](auto& member) { return member.role.find("norm") != std::string::npos; });
}

// Returns whether models with these names of tensors have another epsilon than 1e-5.
bool has_other_epsilons(std::string_view convention) {
  constexpr std::string_view others[] = {"ALBERT",   "BEiT",     "BERT",    "CLIP",       "DINOv2", "DistilBERT",
                                         "ESM",      "GLM-4",    "GTE",     "Gemma 2",    "Llama",  "MPNet",
                                         "NanoChat", "OLMo 2",   "DeBERTa", "Nomic BERT", "T5",     "T5Gemma",
                                         "TimesFM",  "VideoMAE", "ViT"};
  constexpr std::string_view beginning = "Hugging Face ";
  return convention.starts_with(beginning) &&
         std::ranges::find(others, convention.substr(beginning.size())) != std::end(others);
}

// Returns whether `member` is the name of the linear map of this line, or of its layer.
bool belongs_to(std::string_view line, const std::string& member) {
  const std::string_view name = line.substr(0, line.find("_weight "));
  return name == member || (name.starts_with(member) && name[member.size()] == '.');
}

}  // namespace

std::vector<const std::byte*> find(const File& file, const std::string& members, const std::string& prefix, bool strict,
                                   bool states_epsilon) {
  const weights::Spec spec = weights::parse_spec(members, "ladon::safetensors::load");
  const weights::Found found = weights::find_tensors(file, file.name(), spec, prefix);
  std::vector<std::string> problems;
  if (strict) add_left_out(found.left_out, problems);
  if (!states_epsilon && has_norm(spec) && has_other_epsilons(found.convention))
    problems.push_back("the models with the names of " + std::string(found.convention) +
                       " have different epsilons: state {.epsilon = ..}, which is layer_norm_eps or rms_norm_eps in "
                       "config.json, or load a Folder");
  weights::throw_problems(file.name() + ": is not what the kernel needs", problems);
  const Keep keep = [&](const std::string& key, const auto& make) { return file.kept(key, make); };
  std::vector<const std::byte*> values;
  values.reserve(found.members.size());
  for (std::size_t i = 0; i < spec.members.size(); ++i)
    add_values(file, spec.members[i], found.members[i], keep, values);
  return values;
}

std::vector<const std::byte*> find_part(const File& file, const std::string& name, const std::string& members) {
  weights::Spec spec = weights::parse_spec(members, "ladon::safetensors::take");
  std::vector<weights::Source> sources;
  std::vector<std::string> problems;
  for (weights::Member& member : spec.members) {
    const bool is_bias = member.role.ends_with("_bias");
    member.name = files::escaped(name);
    const std::string tensor = name_in(file, name, is_bias), wanted = name + (is_bias ? ".bias" : ".weight");
    sources.push_back({{.tensor = tensor,
                        .shape = member.shape,
                        .first_row = 0,
                        .rows = member.shape[0],
                        .in_out = member.in_out && !is_bias,
                        .merged = true}});
    if (tensor.empty())
      problems.push_back("there is no " + files::in_quotes(wanted) + file.similar_names(wanted));
    else
      weights::check_source(file, member, sources.back(), problems);
  }
  const bool has_bias = std::ranges::any_of(spec.members, [](auto& member) { return member.role.ends_with("_bias"); });
  if (const std::string bias = name_in(file, name, true); !has_bias && !bias.empty())
    problems.push_back("the part has no place for " + files::in_quotes(bias));
  weights::throw_problems(file.name() + ": is not what the part " + files::in_quotes(name) + " needs", problems);
  const Keep keep = [&](const std::string& key, const auto& make) { return file.kept(key, make); };
  std::vector<const std::byte*> values;
  for (std::size_t i = 0; i < sources.size(); ++i) add_values(file, spec.members[i], sources[i], keep, values);
  return values;
}

bool is_int8_member(const std::string& line, const std::vector<std::string>& int8_members) {
  return std::ranges::any_of(int8_members, [&](const std::string& member) { return belongs_to(line, member); });
}

std::string with_int8_members(const std::string& members, const std::vector<std::string>& int8_members) {
  std::vector<bool> found(int8_members.size(), false);
  std::string result;
  for (std::size_t begin = 0; begin < members.size();) {
    const std::size_t end = members.find('\n', begin) + 1;
    std::string line = members.substr(begin, end - begin);
    if (const std::size_t type = line.find(" int4"); type != line.npos) {
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!belongs_to(line, int8_members[i])) continue;
        line[type + 4] = '8';
        found[i] = true;
      }
    }
    result += line;
    begin = end;
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      throw Error("int8_members has " + files::in_quotes(int8_members[i]) +
                  ", which is no linear map with 4-bit weights, and no layer with such maps");
  return result;
}

const std::byte* find_view(const File& file, const std::string& name, std::span<const std::size_t> shape) {
  const std::string found = name_in(file, name, false);
  const std::vector<std::uint64_t> wanted(shape.begin(), shape.end());
  if (found.empty() || !weights::merges_to(file.tensors().at(found), wanted))
    return file.values(found.empty() ? name : found, "F32", sizeof(float), shape);  // throws
  const auto& extents = file.tensors().at(found).shape;
  return file.values(found, "F32", sizeof(float), std::vector<std::size_t>(extents.begin(), extents.end()));
}

}  // namespace ladon::safetensors::detail
