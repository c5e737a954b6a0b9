// SPDX-License-Identifier: Apache-2.0
// Implements detail::find, which finds the tensors of a layer in a checkpoint. `find` calls functions of src/weights.
#include <cstddef>
#include <cstdint>
#include <ladon/safetensors.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "find_tensors.hpp"
#include "member_bytes.hpp"
#include "problems.hpp"
#include "safetensors.hpp"
#include "spec.hpp"
#include "tensor_size.hpp"

namespace ladon::safetensors::detail {
namespace {

// Returns whether the file has the rows of `source` one after another, with the element type and the alignment that the
// layer reads.
bool is_in_place(const File& file, const weights::Member& member, const weights::Source& source) {
  const std::string_view dtype = member.element == weights::Element::bfloat16 ? "BF16" : "F32";
  const auto address = reinterpret_cast<std::uintptr_t>(weights::rows_of(file, source.front()).data());
  return source.size() == 1 && file.tensors().at(source.front().tensor).dtype == dtype &&
         address % weights::bytes_of_element(dtype) == 0;
}

// Returns a text that identifies the rows of `source` and the type to which they are converted.
std::string key_of(const weights::Member& member, const weights::Source& source) {
  std::string key = member.element == weights::Element::bfloat16 ? "bfloat16" : "float32";
  for (const weights::Piece& piece : source)
    for (const std::string& part : {std::to_string(piece.first_row), std::to_string(piece.rows),
                                    std::to_string(piece.tensor.size()), piece.tensor})
      key.append(" ").append(part);
  return key;
}

void add_left_out(const std::vector<std::string>& names, std::vector<std::string>& problems) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + files::in_quotes(names[i]);
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  if (!names.empty())
    problems.push_back("the layer has no place for " + text + "; with {.strict = false}, load ignores them");
}

}  // namespace

std::vector<const std::byte*> find(const File& file, const std::string& members, const std::string& prefix,
                                   bool strict) {
  const weights::Spec spec = weights::parse_spec(members, "ladon::safetensors::load");
  const weights::Found found = weights::find_tensors(file, file.name(), spec, prefix);
  std::vector<std::string> problems;
  if (strict) add_left_out(found.left_out, problems);
  weights::throw_problems(file.name() + ": is not what the kernel needs", problems);
  std::vector<const std::byte*> values;
  values.reserve(found.members.size());
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    const weights::Member& member = spec.members[i];
    const weights::Source& source = found.members[i];
    const auto convert = [&] { return weights::bytes_of_member(file, member, source); };
    values.push_back(is_in_place(file, member, source) ? weights::rows_of(file, source.front()).data()
                                                       : file.kept(key_of(member, source), convert));
  }
  return values;
}

}  // namespace ladon::safetensors::detail
