// SPDX-License-Identifier: Apache-2.0
// Implements detail::find, which finds the tensors of a layer in a checkpoint. `find` calls functions of src/weights.
// Unlike the program ladon-weights, `find` copies no tensor.
#include <cstddef>
#include <cstdint>
#include <ladon/safetensors.hpp>
#include <string>
#include <vector>

#include "find_tensors.hpp"
#include "problems.hpp"
#include "safetensors.hpp"
#include "spec.hpp"
#include "tensor_size.hpp"

namespace ladon::safetensors::detail {
namespace {

// Returns the reason why `member`, a tensor of the layer, cannot point into the file, or "" if it can. `source` names
// the rows in the file that form the tensor.
std::string in_place_complaint(const File& file, const weights::Member& member, const weights::Source& source) {
  const std::string first = files::in_quotes(source.front().tensor);
  if (source.size() > 1)
    return member.name + ": the rows lie in several tensors, of which the first is " + first +
           "; take layout::SeparateQKV";
  const Tensor& tensor = file.tensors().at(source.front().tensor);
  const std::string dtype = member.element == weights::Element::bfloat16 ? "BF16" : "F32";
  if (tensor.dtype != dtype)
    return member.name + ": tensor " + first + ": expected dtype " + dtype + ", found " +
           files::in_quotes(tensor.dtype);
  // The file begins at a page boundary in memory. The data are therefore aligned if their offset in the file is a
  // multiple of the element size.
  if (reinterpret_cast<std::uintptr_t>(file.bytes(tensor).data()) % weights::bytes_of_element(dtype) != 0)
    return member.name + ": tensor " + first + ": the data are not aligned to a value of dtype " + dtype;
  return "";
}

// Returns the address of the first row of `piece`, which is some rows of a tensor in the mapped file.
const std::byte* rows_of(const File& file, const weights::Piece& piece) {
  const auto bytes = file.bytes(file.tensors().at(piece.tensor));
  return bytes.data() + bytes.size() / piece.shape[0] * piece.first_row;
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
  for (std::size_t i = 0; i < spec.members.size(); ++i)
    if (auto what = in_place_complaint(file, spec.members[i], found.members[i]); !what.empty())
      problems.push_back(what);
  if (strict) add_left_out(found.left_out, problems);
  weights::throw_problems(file.name() + ": is not what the kernel needs", problems);
  std::vector<const std::byte*> values;
  values.reserve(found.members.size());
  for (const weights::Source& source : found.members) values.push_back(rows_of(file, source.front()));
  return values;
}

}  // namespace ladon::safetensors::detail
