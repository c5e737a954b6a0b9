// SPDX-License-Identifier: Apache-2.0
#include "find_tensors.hpp"

#include <algorithm>
#include <functional>
#include <ladon/detail/vec/int4.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "floats.hpp"
#include "int8_weights.hpp"
#include "other_files.hpp"
#include "problems.hpp"
#include "suggestions.hpp"
#include "tensor_size.hpp"

namespace ladon::weights {
namespace {

using files::in_quotes, files::Safetensors, files::shown;

bool has(const Safetensors& file, const Piece& piece) {
  const auto& tensors = file.tensors();
  return tensors.contains(piece.tensor) != piece.absent && (piece.scaling.empty() || tensors.contains(piece.scaling));
}

// Returns the names of the tensors that `source` needs and the file lacks, in quotes and separated by commas:
// "x.weight", "y.weight".
std::string missing(const Safetensors& file, const Source& source) {
  std::set<std::string> names;
  std::string text;
  for (const Piece& piece : source)
    for (const std::string& name : {piece.tensor, piece.scaling})
      if (!name.empty() && !piece.absent && !file.tensors().contains(name) && names.insert(name).second)
        text += (text.empty() ? "" : ", ") + in_quotes(name);
  return text;
}

// Returns the name of a tensor that the file has although no file of the family has it, or "".
std::string unexpected(const Safetensors& file, const std::vector<Source>& sources) {
  for (const Source& source : sources)
    for (const Piece& piece : source)
      if (piece.absent && !has(file, piece)) return piece.tensor;
  return "";
}

std::string what_is_missing(const Safetensors& file, const std::vector<Source>& sources, const Convention& convention) {
  if (const std::string name = unexpected(file, sources); !name.empty())
    return "expected no " + in_quotes(name) + ", which " + std::string(convention.title) + " lacks in some layers";
  if (sources.empty()) return "there is no such tensor among the names of " + std::string(convention.title);
  std::string text = "there is no ";
  for (const Source& source : sources) text += (&source == &sources.front() ? "" : ", nor ") + missing(file, source);
  return text;
}

std::string shape_complaint(const files::Tensor& tensor, const Piece& piece) {
  auto shape = piece.shape;
  // A U8 tensor is an int4 weight, or of a dtype that no member has.
  if (tensor.dtype == "U8" && shape.size() == 2) shape[1] = ladon::int4_row_bytes(static_cast<std::size_t>(shape[1]));
  if (piece.in_out) std::ranges::reverse(shape);
  const auto elements = [](const std::vector<std::uint64_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
  };
  if (tensor.shape == shape || (piece.any_shape && elements(tensor.shape) == elements(shape)) ||
      (piece.merged && merges_to(tensor, shape)))
    return "";
  const bool is_transposed = std::ranges::equal(tensor.shape.rbegin(), tensor.shape.rend(), shape.begin(), shape.end());
  return "expected shape " + shown(shape) + ", found " + shown(tensor.shape) + (is_transposed ? ", transposed" : "");
}

// Returns a description of the error in a tensor of floats, or "" if there is no error.
std::string complaint(const files::Tensor& tensor, const Piece& piece) {
  if (const auto what = shape_complaint(tensor, piece); !what.empty()) return what;
  if (bytes_of_float(tensor.dtype) == 0) return "expected dtype F32, F16 or BF16, found " + in_quotes(tensor.dtype);
  return size_complaint(tensor);
}

std::string kept_in_float(const std::string& dtype, const std::string& type, const std::string& quantised,
                          const std::string& found) {
  return "expected dtype " + dtype + ", because the file has " + type + " weights such as " + in_quotes(quantised) +
         ", found " + in_quotes(found) + ": a linear map that was kept in float does not fit a kernel of " + type;
}

// Checks the tensors that find_tensors has found for one member of the kernel's weights, and adds the errors to
// `problems`.
class SourceCheck {
 public:
  // Float weights may become integers of a type only if the file has no integer weights of this type. `int8_weight` and
  // `int4_weight` are the names of such weights, or "".
  SourceCheck(const Safetensors& file, std::string int8_weight, std::string int4_weight,
              std::vector<std::string>& problems)
      : file_(file), int8_weight_(std::move(int8_weight)), int4_weight_(std::move(int4_weight)), problems_(problems) {}

  void operator()(const Member& member, const Source& source) const {
    for (const Piece& piece : source) {
      if (piece.absent) continue;
      const files::Tensor& tensor = file_.tensors().at(piece.tensor);
      const bool has_4_bits = member.element == Element::int4;
      const std::string type = has_4_bits ? "int4" : "int8", dtype = has_4_bits ? "U8" : "I8";
      const std::string& quantised = has_4_bits ? int4_weight_ : int8_weight_;
      if (member.is_quantised() && tensor.dtype == dtype) {
        check_quantised(member, piece, tensor);
      } else if (member.is_quantised() && !quantised.empty()) {
        add(member, piece.tensor, kept_in_float(dtype, type, quantised, tensor.dtype));
      } else {
        add(member, piece.tensor, complaint(tensor, piece));
      }
      if (!piece.scaling.empty()) check_scaling(member, piece);
    }
  }

 private:
  void check_scaling(const Member& member, const Piece& piece) const {
    const files::Tensor& scaling = file_.tensors().at(piece.scaling);
    const std::uint64_t size = scaling.shape.size() == 1 ? scaling.shape[0] : 0;
    if (size == 0 || piece.shape[0] % size != 0)
      add(member, piece.scaling, "expected a number for each feature of a head, found shape " + shown(scaling.shape));
    else
      add(member, piece.scaling, complaint(scaling, {piece.scaling, {size}, 0, size}));
  }

  void check_quantised(const Member& member, const Piece& piece, const files::Tensor& tensor) const {
    if (piece.in_out || !piece.scaling.empty())
      add(member, piece.tensor,
          "expected float weights, because this family's weights are converted, found dtype " +
              in_quotes(tensor.dtype));
    const std::string wrong_shape = shape_complaint(tensor, piece);
    add(member, piece.tensor, wrong_shape.empty() ? size_complaint(tensor) : wrong_shape);
    add(member, piece.tensor, zero_point_complaint(file_, piece.tensor));
    const std::string scale = scale_name(piece.tensor);
    const auto found = file_.tensors().find(scale);
    if (found == file_.tensors().end()) {
      add(member, piece.tensor, "expected the scales of its rows in " + in_quotes(scale) + ", found no such tensor");
      return;
    }
    const ScaleSign sign = member.rotated ? ScaleSign::negative : ScaleSign::positive;
    const std::string wrong_scale = scale_complaint(file_, found->second, piece.shape[0], sign, tensor.dtype);
    add(member, scale, wrong_scale.empty() ? size_complaint(found->second) : wrong_scale);
  }

  void add(const Member& member, const std::string& tensor, const std::string& what) const {
    if (!what.empty()) problems_.push_back(member.name + ": tensor " + in_quotes(tensor) + ": " + what);
  }

  const Safetensors& file_;
  std::string int8_weight_, int4_weight_;
  std::vector<std::string>& problems_;
};

// Returns whether the convention may describe the kernel: a kernel of encoder layers has no attention to a memory.
bool may_describe(const Convention& convention, const Spec& spec) {
  return convention.cross_attention.empty() || spec.is_decoder();
}

struct Best {
  const Convention* convention = nullptr;
  Match match;
};

// Returns the convention that matches the first layer best.
Best best_convention(const Safetensors& file, const Spec& first_layer, const std::string& prefix) {
  Best best{&conventions().front(), {}};
  for (const Convention& convention : conventions()) {
    if (!may_describe(convention, first_layer)) continue;
    const Match found = match(file, first_layer, convention, prefix);
    if (found > best.match) best = {&convention, found};
  }
  return best;
}

// Removes the names of wrappers from the beginning of a name: those of PyTorch's DataParallel and compile, of Hugging
// Face's models with a head or of texts and images, and of the library peft. Returns the rest.
std::string_view without_wrappers(std::string_view name) {
  constexpr std::string_view wrappers[] = {"module", "_orig_mod", "base_model.model", "model", "language_model"};
  for (;;) {
    const auto* const found = std::ranges::find_if(wrappers, [&](std::string_view wrapper) {
      return name == wrapper || (name.starts_with(wrapper) && name.substr(wrapper.size()).starts_with('.'));
    });
    if (found == std::end(wrappers)) return name;
    name.remove_prefix(std::min(name.size(), found->size() + 1));
  }
}

// Returns all sequences of wrappers with which names of the file begin, and "".
std::set<std::string> wrappers_in(const Safetensors& file) {
  std::set<std::string> found{""};
  for (const auto& [name, tensor] : file.tensors()) {
    const std::size_t size = name.size() - without_wrappers(name).size();
    if (size <= 100) found.insert(name.substr(0, size));
    if (found.size() > 20) break;
  }
  return found;
}

// Returns the prefix under which the file has tensors of the kernel: the given one, or the given one with other names
// of wrappers. Returns the given one if the file has no such tensors, or several sets of them.
std::string prefix_in(const Safetensors& file, const Spec& first_layer, const std::string& given) {
  if (best_convention(file, first_layer, given).match.present > 0) return given;
  const std::string rest(without_wrappers(given));
  std::string found = given;
  std::size_t most = 0;
  for (const std::string& wrappers : wrappers_in(file)) {
    std::string prefix = wrappers + rest;
    if (prefix.ends_with('.')) prefix.pop_back();
    const std::size_t count = best_convention(file, first_layer, prefix).match.present;
    if (count == most) found = given;
    if (count > most) found = prefix, most = count;
  }
  return found;
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
  constexpr std::size_t most = 3;
  const Member& first = spec.members.front();
  std::string text = first.name + " and all others: " + what_is_below(file, prefix) + "; tried";
  std::size_t count = 0;
  for (const Convention& convention : conventions()) {
    if (!may_describe(convention, spec)) continue;
    const auto tried = Naming(file, spec, convention, prefix).sources(first);
    if (tried.empty() || ++count > most) continue;
    text += (count == 1 ? " " : ", ") + in_quotes(tried.front().front().tensor) + " (" + std::string(convention.title) +
            ")";
  }
  return count <= most ? text : text + " and the names of " + std::to_string(count - most) + " other families";
}

// Returns a member of the norm after the last layer of a stack.
Member last_norm(const std::string& tensor) {
  const std::string role = "norm_" + tensor;
  return {.name = role, .layer = {}, .role = role, .rows = {1}, .shape = {1}};
}

// Adds the names of the tensors that no member takes, but that belong to the layers of the convention.
void add_unused(const Spec& spec, const Naming& naming, std::set<std::string>& used) {
  const auto add = [&](const Row& row, const std::string& name) {
    if (row.cut == Cut::unused) used.insert(name);
  };
  for (const Member& member : spec.members) naming.for_each_row(member, add);
  if (spec.kind == Kind::stack) naming.for_each_row(last_norm("weight"), add);
}

// Adds the tensors of the norm after the last layer of a stack that the kernel does not use. Their names do not begin
// with the prefix.
void add_last_norm(const Safetensors& file, const Naming& naming, const std::set<std::string>& used,
                   std::vector<std::string>& names) {
  for (const std::string tensor : {"weight", "bias"})
    for (const Source& source : naming.sources(last_norm(tensor))) {
      const std::string& name = source.front().tensor;
      if (file.tensors().contains(name) && !used.contains(name)) names.push_back(name);
    }
}

// Returns whether the tensor is a table from which angles of a rotary embedding are computed. Old files have this
// table.
bool is_rotary_table(std::string_view name) { return name.ends_with(".inv_freq"); }

std::vector<std::string> left_out(const Safetensors& file, const std::vector<Source>& members, const Spec& spec,
                                  const Naming& naming, const std::string& prefix) {
  std::set<std::string> used;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const Piece& piece : members[i]) {
      used.insert(piece.tensor);
      if (spec.members[i].is_quantised()) used.insert(scale_name(piece.tensor));
    }
  }
  add_unused(spec, naming, used);
  std::vector<std::string> names;
  if (spec.kind == Kind::stack && !prefix.empty()) add_last_norm(file, naming, used, names);
  const std::string beginning = prefix.empty() ? "" : prefix + ".";
  if (spec.kind == Kind::attention) {
    // The text before the names of an attention may also begin other names of the layer. In BERT, it begins the names
    // of the first norm. Such tensors count as used, so that they are not reported if only the attention is loaded.
    const std::string attention = std::string(naming.convention().attention) + ".";
    for (const Row& row : naming.convention().of_layer[1])
      if (row.name.starts_with(attention))
        for (const char* tensor : {"", ".weight", ".bias"})
          used.insert(beginning + std::string(row.name.substr(attention.size())) + tensor);
  }
  for (const auto& [name, tensor] : file.tensors()) {
    if (name.starts_with(beginning) && !used.contains(name) && !is_rotary_table(name)) names.push_back(name);
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

void check_source(const Safetensors& file, const Member& member, const Source& source,
                  std::vector<std::string>& problems) {
  SourceCheck(file, "", "", problems)(member, source);
}

Match match(const Safetensors& file, const Spec& spec, const Convention& convention, const std::string& prefix) {
  const Naming naming(file, spec, convention, prefix);
  const auto fits = [&](const Piece& piece) {
    return piece.absent || shape_complaint(file.tensors().at(piece.tensor), piece).empty();
  };
  const std::string attention(convention.attention);
  Match found;
  found.named = spec.kind == Kind::attention && (prefix == attention || prefix.ends_with("." + attention));
  for (const Member& member : spec.members) {
    const auto sources = naming.sources(member);
    const Source* source = present(file, sources);
    if (source == nullptr) continue;
    if (!std::ranges::all_of(*source, &Piece::absent)) ++found.present;
    if (std::ranges::all_of(*source, fits)) ++found.fitting;
  }
  return found;
}

Found find_tensors(const Safetensors& file, const std::string& file_name, const Spec& spec, const std::string& given,
                   const std::string& complaint) {
  const Spec first_layer = spec.first_layer();
  const std::string prefix =
      prefix_in(file, first_layer, given.ends_with('.') ? given.substr(0, given.size() - 1) : given);
  const Best best = best_convention(file, first_layer, prefix);
  const Naming naming(file, spec, *best.convention, prefix);
  Found found{{}, best.convention->title, prefix, {}};
  std::vector<std::string> problems;
  if (best.match.present == 0) {
    problems.push_back(wrong_prefix(file, spec, prefix));
  } else {
    const SourceCheck check(file, quantised_weight_in(file, "I8"), quantised_weight_in(file, "U8"), problems);
    for (const Member& member : spec.members)
      if (find_member(file, member, naming.sources(member), *best.convention, found, problems))
        check(member, found.members.back());
  }
  if (found.members.size() < spec.members.size())
    for (const auto& text : {other_prefixes(file, first_layer, prefix, best.match.present), kind_of_file(file)})
      if (!text.empty()) problems.push_back(text);
  throw_problems(file_name + ": " + complaint, problems);
  found.left_out = left_out(file, found.members, spec, naming, prefix);
  return found;
}

}  // namespace ladon::weights
