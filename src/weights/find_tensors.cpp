#include "find_tensors.hpp"

#include <algorithm>
#include <set>

#include "floats.hpp"
#include "problems.hpp"
#include "suggestions.hpp"

namespace weights {
namespace {

using files::in_quotes, files::Safetensors, files::shown;

bool has(const Safetensors& file, const Piece& piece) { return file.tensors().contains(piece.tensor); }

// "a", "b": those that the file lacks.
std::string missing(const Safetensors& file, const Source& source) {
  std::string names;
  for (const Piece& piece : source)
    if (!has(file, piece)) names += (names.empty() ? "" : ", ") + in_quotes(piece.tensor);
  return names;
}

std::string what_is_missing(const Safetensors& file, const std::vector<Source>& sources, const Convention& convention) {
  if (sources.empty()) return "there is no such tensor among the names of " + std::string(convention.title);
  std::string text = "there is no ";
  for (const Source& source : sources) text += (&source == &sources.front() ? "" : ", nor ") + missing(file, source);
  return text;
}

// What is wrong with a tensor that is there; empty if nothing.
std::string complaint(const files::Tensor& tensor, const std::vector<std::uint64_t>& shape) {
  if (tensor.shape != shape) {
    const bool is_transposed =
        std::ranges::equal(tensor.shape.rbegin(), tensor.shape.rend(), shape.begin(), shape.end());
    return "expected shape " + shown(shape) + ", found " + shown(tensor.shape) + (is_transposed ? ", transposed" : "");
  }
  std::uint64_t bytes = bytes_of_float(tensor.dtype);
  if (bytes == 0) return "expected dtype F32, F16 or BF16, found " + in_quotes(tensor.dtype);
  for (const std::uint64_t size : shape) bytes *= size;  // a SPEC's sizes, whose product does not overflow
  const std::uint64_t found = tensor.end - tensor.begin;
  return found == bytes ? "" : "expected " + std::to_string(bytes) + " bytes of data, found " + std::to_string(found);
}

const Convention& best_convention(const Safetensors& file, const Spec& spec, const std::string& prefix) {
  return *std::ranges::max_element(
      conventions(), {}, [&](const Convention& convention) { return count_present(file, spec, convention, prefix); });
}

// Nothing at all is there: one line says what was looked for, instead of one for each member.
std::string wrong_prefix(const Spec& spec, const std::string& prefix) {
  const Member& first = spec.members.front();
  std::string text = first.name + " and all others: nothing below prefix " + in_quotes(prefix) + "; tried";
  for (const Convention& convention : conventions()) {
    const auto tried = sources(spec, first, convention, prefix);
    if (tried.empty()) continue;
    text += (text.ends_with("tried") ? " " : ", ") + in_quotes(tried.front().front().tensor) + " (" +
            std::string(convention.title) + ")";
  }
  return text;
}

// A stack's last norm, which a kernel without one leaves out; it is not below the prefix.
std::vector<std::string> beside_layers(const Spec& spec, const Convention& convention, const std::string& prefix) {
  std::vector<std::string> names;
  for (const Row& row : convention.beside_layers) {
    const Member member{
        .name = std::string(row.role), .layer = {}, .role = std::string(row.role), .rows = {1}, .shape = {1}};
    for (const Source& source : sources(spec, member, convention, prefix)) names.push_back(source.front().tensor);
  }
  return names;
}

std::vector<std::string> left_out(const Safetensors& file, const std::vector<Source>& members, const Spec& spec,
                                  const Convention& convention, const std::string& prefix) {
  std::set<std::string_view> used;
  for (const Source& source : members)
    for (const Piece& piece : source) used.insert(piece.tensor);
  std::vector<std::string> names;
  if (spec.kind == Kind::stack && !prefix.empty())
    for (const std::string& name : beside_layers(spec, convention, prefix))
      if (file.tensors().contains(name) && !used.contains(name)) names.push_back(name);
  const std::string beginning = prefix.empty() ? "" : prefix + ".";
  // The norm behind BERT's attention has its name below the attention.
  const std::string norm = beginning + "output.LayerNorm.";
  for (const auto& [name, tensor] : file.tensors()) {
    const bool is_norm = spec.kind == Kind::attention && name.starts_with(norm);
    if (name.starts_with(beginning) && !is_norm && !used.contains(name)) names.push_back(name);
  }
  return names;
}

// Takes the member's source, and adds what is wrong with it to the problems.
void find_member(const Safetensors& file, const Member& member, const std::vector<Source>& sources,
                 const Convention& convention, Found& found, std::vector<std::string>& problems) {
  const Source* source = present(file, sources);
  if (source == nullptr) {
    problems.push_back(member.name + ": " + what_is_missing(file, sources, convention));
    return;
  }
  for (const Piece& piece : *source)
    if (const auto what = complaint(file.tensors().at(piece.tensor), piece.shape); !what.empty())
      problems.push_back(member.name + ": tensor " + in_quotes(piece.tensor) + ": " + what);
  found.members.push_back(*source);
}

}  // namespace

const Source* present(const Safetensors& file, const std::vector<Source>& sources) {
  const auto is_present = [&](const Source& source) {
    return std::ranges::all_of(source, [&](const Piece& piece) { return has(file, piece); });
  };
  const auto found = std::ranges::find_if(sources, is_present);
  return found == sources.end() ? nullptr : &*found;
}

std::size_t count_present(const Safetensors& file, const Spec& spec, const Convention& convention,
                          const std::string& prefix) {
  return static_cast<std::size_t>(std::ranges::count_if(spec.members, [&](const Member& member) {
    return present(file, sources(spec, member, convention, prefix)) != nullptr;
  }));
}

Found find_tensors(const Safetensors& file, const std::string& file_name, const Spec& spec, const std::string& prefix) {
  const Convention& convention = best_convention(file, spec, prefix);
  const std::size_t count = count_present(file, spec, convention, prefix);
  Found found{{}, convention.title, {}};
  std::vector<std::string> problems;
  if (count == 0) {
    problems.push_back(wrong_prefix(spec, prefix));
  } else {
    for (const Member& member : spec.members)
      find_member(file, member, sources(spec, member, convention, prefix), convention, found, problems);
  }
  if (count < spec.members.size())
    if (const auto others = other_prefixes(file, spec, prefix, count); !others.empty()) problems.push_back(others);
  throw_problems(file_name + ": is not what the kernel needs", problems);
  found.left_out = left_out(file, found.members, spec, convention, prefix);
  return found;
}

}  // namespace weights
