// SPDX-License-Identifier: Apache-2.0
#include "find_tensors.hpp"

#include <algorithm>
#include <set>

#include "floats.hpp"
#include "int8_weights.hpp"
#include "other_files.hpp"
#include "problems.hpp"
#include "suggestions.hpp"
#include "tensor_size.hpp"

namespace ladon::weights {
namespace {

using files::in_quotes, files::Safetensors, files::shown;

bool has(const Safetensors& file, const Piece& piece) { return file.tensors().contains(piece.tensor); }

// Returns the names of the tensors that `source` needs and the file lacks, in quotes and separated by commas:
// "x.weight", "y.weight".
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

std::string shape_complaint(const files::Tensor& tensor, const std::vector<std::uint64_t>& shape) {
  if (tensor.shape == shape) return "";
  const bool is_transposed = std::ranges::equal(tensor.shape.rbegin(), tensor.shape.rend(), shape.begin(), shape.end());
  return "expected shape " + shown(shape) + ", found " + shown(tensor.shape) + (is_transposed ? ", transposed" : "");
}

// Returns a description of the error in a tensor of floats, or "" if there is no error.
std::string complaint(const files::Tensor& tensor, const std::vector<std::uint64_t>& shape) {
  if (const auto what = shape_complaint(tensor, shape); !what.empty()) return what;
  if (bytes_of_float(tensor.dtype) == 0) return "expected dtype F32, F16 or BF16, found " + in_quotes(tensor.dtype);
  return size_complaint(tensor);
}

// Checks the tensors that find_tensors has found for one member of the kernel's weights, and adds the errors to
// `problems`.
class SourceCheck {
 public:
  SourceCheck(const Safetensors& file, std::vector<std::string>& problems)
      : file_(file), int8_weight_(int8_weight_in(file)), problems_(problems) {}

  void operator()(const Member& member, const Source& source) const {
    for (const Piece& piece : source) {
      const files::Tensor& tensor = file_.tensors().at(piece.tensor);
      if (member.element == Element::int8 && tensor.dtype == "I8") {
        check_int8(member, piece, tensor);
      } else if (member.element == Element::int8 && !int8_weight_.empty()) {
        add(member, piece.tensor,
            "expected dtype I8, because the file has int8 weights such as " + in_quotes(int8_weight_) + ", found " +
                in_quotes(tensor.dtype) + ": a linear map that was kept in float does not fit a kernel of int8");
      } else {
        add(member, piece.tensor, complaint(tensor, piece.shape));
      }
    }
  }

 private:
  void check_int8(const Member& member, const Piece& piece, const files::Tensor& tensor) const {
    const std::string wrong_shape = shape_complaint(tensor, piece.shape);
    add(member, piece.tensor, wrong_shape.empty() ? size_complaint(tensor) : wrong_shape);
    add(member, piece.tensor, zero_point_complaint(file_, piece.tensor));
    const std::string scale = scale_name(piece.tensor);
    const auto found = file_.tensors().find(scale);
    if (found == file_.tensors().end()) {
      add(member, piece.tensor, "expected the scales of its rows in " + in_quotes(scale) + ", found no such tensor");
      return;
    }
    const ScaleSign sign = member.rotated ? ScaleSign::negative : ScaleSign::positive;
    const std::string wrong_scale = scale_complaint(file_, found->second, piece.shape[0], sign);
    add(member, scale, wrong_scale.empty() ? size_complaint(found->second) : wrong_scale);
  }

  void add(const Member& member, const std::string& tensor, const std::string& what) const {
    if (!what.empty()) problems_.push_back(member.name + ": tensor " + in_quotes(tensor) + ": " + what);
  }

  const Safetensors& file_;
  std::string int8_weight_;  // the name of an int8 weight of the file, or "" if the file has no int8 weight
  std::vector<std::string>& problems_;
};

const Convention& best_convention(const Safetensors& file, const Spec& spec, const std::string& prefix) {
  return *std::ranges::max_element(
      conventions(), {}, [&](const Convention& convention) { return count_present(file, spec, convention, prefix); });
}

// Returns what the file has below the prefix: a text for the error about a file without tensors of the kernel.
std::string what_is_below(const Safetensors& file, const std::string& prefix) {
  const std::string beginning = prefix.empty() ? "" : prefix + ".";
  const auto first = file.tensors().lower_bound(beginning);
  if (first == file.tensors().end() || !first->first.starts_with(beginning))
    return "nothing below prefix " + in_quotes(prefix);
  return "no tensor below prefix " + in_quotes(prefix) + " has a name that is searched; the first is " +
         in_quotes(first->first);
}

// Returns the error for a file in which no tensor of the kernel was found: one line that names the searched tensors,
// instead of one line for each tensor of the kernel.
std::string wrong_prefix(const Safetensors& file, const Spec& spec, const std::string& prefix) {
  const Member& first = spec.members.front();
  std::string text = first.name + " and all others: " + what_is_below(file, prefix) + "; tried";
  for (const Convention& convention : conventions()) {
    const auto tried = sources(spec, first, convention, prefix);
    if (tried.empty()) continue;
    text += (text.ends_with("tried") ? " " : ", ") + in_quotes(tried.front().front().tensor) + " (" +
            std::string(convention.title) + ")";
  }
  return text;
}

// Returns the tensor names of the norm after the last layer of a stack. If the kernel lacks this norm, left_out must
// report the tensors of the norm as unused. The names of these tensors do not begin with the prefix, so left_out
// searches for them separately.
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
  std::set<std::string> used;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const Piece& piece : members[i]) {
      used.insert(piece.tensor);
      if (spec.members[i].element == Element::int8) used.insert(scale_name(piece.tensor));
    }
  }
  std::vector<std::string> names;
  if (spec.kind == Kind::stack && !prefix.empty())
    for (const std::string& name : beside_layers(spec, convention, prefix))
      if (file.tensors().contains(name) && !used.contains(name)) names.push_back(name);
  const std::string beginning = prefix.empty() ? "" : prefix + ".";
  if (spec.kind == Kind::attention) {
    // The text before the names of an attention may also begin other names of the layer. In BERT, it begins the names
    // of the first norm. Such tensors count as used, so that they are not reported if only the attention is loaded.
    const std::string attention = std::string(convention.attention) + ".";
    for (const Row& row : convention.of_layer) {
      if (row.name.starts_with(attention)) used.insert(beginning + std::string(row.name.substr(attention.size())));
    }
  }
  for (const auto& [name, tensor] : file.tensors()) {
    if (name.starts_with(beginning) && !used.contains(name)) names.push_back(name);
  }
  return names;
}

// Appends a source of the member to `found`: the first of `sources` that exists in the file. If the file has none of
// `sources`, adds a problem and returns false.
bool find_member(const Safetensors& file, const Member& member, const std::vector<Source>& sources,
                 const Convention& convention, Found& found, std::vector<std::string>& problems) {
  const Source* source = present(file, sources);
  if (source == nullptr) {
    problems.push_back(member.name + ": " + what_is_missing(file, sources, convention));
    return false;
  }
  found.members.push_back(*source);
  return true;
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

Found find_tensors(const Safetensors& file, const std::string& file_name, const Spec& spec, const std::string& given) {
  const std::string prefix = given.ends_with('.') ? given.substr(0, given.size() - 1) : given;
  const Convention& convention = best_convention(file, spec, prefix);
  const std::size_t count = count_present(file, spec, convention, prefix);
  Found found{{}, convention.title, {}};
  std::vector<std::string> problems;
  if (count == 0) {
    problems.push_back(wrong_prefix(file, spec, prefix));
  } else {
    const SourceCheck check(file, problems);
    for (const Member& member : spec.members)
      if (find_member(file, member, sources(spec, member, convention, prefix), convention, found, problems))
        check(member, found.members.back());
  }
  if (count < spec.members.size())
    for (const auto& text : {other_prefixes(file, spec, prefix, count), kind_of_file(file)})
      if (!text.empty()) problems.push_back(text);
  throw_problems(file_name + ": is not what the kernel needs", problems);
  found.left_out = left_out(file, found.members, spec, convention, prefix);
  return found;
}

}  // namespace ladon::weights
