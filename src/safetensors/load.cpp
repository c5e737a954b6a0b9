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

// Returns whether the file has the member with the element type and the alignment that the layer reads.
bool is_in_place(const File& file, const weights::Member& member, const weights::Source& source) {
  if (!weights::is_one_tensor(member, source)) return false;
  constexpr std::string_view dtypes[] = {"F32", "BF16", "I8"};
  const std::string_view dtype = dtypes[static_cast<int>(member.element)];
  const auto address = reinterpret_cast<std::uintptr_t>(weights::rows_of(file, source.front()).data());
  return file.tensors().at(source.front().tensor).dtype == dtype && address % weights::bytes_of_element(dtype) == 0;
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
    const std::string key = weights::key_of(member, source);
    const bool in_place = is_in_place(file, member, source);
    const auto* const address = in_place ? weights::rows_of(file, source.front()).data() : nullptr;
    if (member.element != weights::Element::int8) {
      const auto convert = [&] { return weights::bytes_of_member(file, member, source); };
      values.push_back(in_place ? address : file.kept(key, convert));
      continue;
    }
    const auto keep = [&](const char* what, std::string weights::Int8Member::* part) {
      return file.kept(key + what, [&] { return weights::int8_member(file, member, source).*part; });
    };
    values.push_back(in_place ? address : keep(" weight", &weights::Int8Member::weight));
    values.push_back(keep(" scale", &weights::Int8Member::scale));
    values.push_back(keep(" row_sum", &weights::Int8Member::row_sum));
  }
  return values;
}

}  // namespace ladon::safetensors::detail
