// SPDX-License-Identifier: Apache-2.0
#include "conversion_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/int4.hpp>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "file_error.hpp"
#include "floats.hpp"
#include "int8_weights.hpp"
#include "other_files.hpp"
#include "problems.hpp"
#include "tensor_size.hpp"

namespace ladon::weights {
namespace {

using files::in_quotes, files::Safetensors, files::Tensor;

bool is_weight_name(std::string_view name) {
  return name == "weight" || name.ends_with(".weight") || name.ends_with("_proj_weight");
}

bool is_matrix(const Tensor& tensor) {
  return tensor.shape.size() == 2 && tensor.shape[0] != 0 && tensor.shape[1] != 0;
}

bool is_weight(std::string_view name, const Tensor& tensor) { return is_weight_name(name) && is_matrix(tensor); }

bool is_embedding_name(std::string_view name) {
  return std::ranges::any_of(std::array{"embed", "wte", "wpe", "tok_", "lm_head"},
                             [&](const char* part) { return name.find(part) != name.npos; });
}

// Returns the dtype of converted matrices.
std::string dtype_of(Target target) {
  return target == Target::int8 ? "I8" : target == Target::int4 ? "U8" : target == Target::bfloat16 ? "BF16" : "F32";
}

bool is_integer(Target target) { return target == Target::int8 || target == Target::int4; }

// Decides which tensors of the file are converted, and collects the problems that plan_conversion reports.
class Planner {
 public:
  Planner(const Safetensors& file, Target target, const Selection& selection)
      : file_(file), selection_(selection), words_(words(target)) {
    plan_.target = target;
    for (const auto& [name, tensor] : file.tensors())
      if (is_embedding_name(name) && is_matrix(tensor)) embeddings_.insert(content(tensor));
  }

  void add(const std::string& name, const Tensor& tensor) {
    if (const auto what = size_complaint(tensor); !what.empty()) add_problem(name, what);
    if (is_converted_already(name, tensor)) {
      ++plan_.already_converted;
      if (is_integer(plan_.target)) check_scale(name, tensor);
    } else if (plan_.target != Target::float32 && is_weight(name, tensor) && bytes_of_float(tensor.dtype) != 0 &&
               !is_kept(name, tensor)) {
      add_converted(name, tensor);
      return;
    } else if (is_to_widen(tensor) && !has_kept_name(name)) {
      ++plan_.widened;
      const std::uint64_t bytes = 2 * (tensor.end - tensor.begin);
      plan_.tensors.push_back({{name, {"F32", tensor.shape, 0, bytes}}, &tensor, Making::widened, false, plan_.target});
      return;
    }
    ++plan_.copied;
    plan_.tensors.push_back({{name, tensor}, &tensor, Making::copy, false, plan_.target});
  }

  ConversionPlan plan(const std::string& file_name) {
    throw_problems(file_name + ": cannot be " + words_.participle, problems_);
    if (plan_.converted + plan_.widened == 0)
      throw files::Error(file_name + ": there is nothing to " + words_.verb + ": " + what_there_is());
    place_tensors();
    make_header();
    return std::move(plan_);
  }

 private:
  struct Made {
    Making making;
    bool rotated;
    Target type;
  };

  void add_converted(const std::string& name, const Tensor& tensor) {
    ++plan_.converted;
    const bool of_embedding = is_embedding(name, tensor), is_quantised = is_integer(plan_.target);
    const bool is_rotated = is_quantised && selection_.rotate && !of_embedding;
    const Target type = plan_.target == Target::int4 && of_embedding ? Target::int8 : plan_.target;
    auto shape = tensor.shape;
    if (type == Target::int4) {
      if (shape[1] > ladon::detail::most_int8_features)
        add_problem(name, "expected at most 65536 columns, found " + std::to_string(shape[1]));
      shape[1] = ladon::int4_row_bytes(static_cast<std::size_t>(shape[1]));
    }
    add_made(name, dtype_of(type), shape, tensor, {Making::weight, is_rotated, type});
    if (is_rotated && tensor.shape[1] % ladon::detail::rotated_block != 0)
      add_problem(name, "expected a multiple of 8 columns, found " + std::to_string(tensor.shape[1]));
    if (!is_quantised) return;
    add_made(scale_name(name), "F32", {tensor.shape[0], 1}, tensor, {Making::scale, is_rotated, type});
    if (file_.tensors().contains(scale_name(name)))
      add_problem(name,
                  "expected no tensor " + in_quotes(scale_name(name)) + ", which would become its scale, found one");
  }

  // Adds an output matrix that is computed from `source`. If `source` has too few bytes for its shape, the product
  // `bytes` may overflow. The overflow does no harm, because `add` reports such a source as a problem, and a plan with
  // problems is never used.
  void add_made(const std::string& name, const std::string& dtype, const std::vector<std::uint64_t>& shape,
                const Tensor& source, const Made& made) {
    const std::uint64_t bytes = shape[0] * shape[1] * bytes_of_element(dtype);
    plan_.tensors.push_back({{name, {dtype, shape, 0, bytes}}, &source, made.making, made.rotated, made.type});
  }

  [[nodiscard]] bool is_embedding(const std::string& name, const Tensor& tensor) const {
    return is_embedding_name(name) || is_tied(tensor);
  }

  [[nodiscard]] bool is_to_widen(const Tensor& tensor) const {
    return bytes_of_float(tensor.dtype) == sizeof(std::uint16_t) &&
           (plan_.target == Target::float32 || (plan_.target == Target::bfloat16 && tensor.shape.size() <= 1));
  }

  bool is_kept(const std::string& name, const Tensor& tensor) {
    return (!selection_.embeddings && is_embedding(name, tensor)) || has_kept_name(name);
  }

  bool has_kept_name(const std::string& name) {
    if (selection_.keep.empty()) return false;
    // std::regex_search needs stack space in proportion to the length of the name, so names that are longer than
    // `longest` are rejected.
    constexpr std::size_t longest = 1000;
    if (name.size() > longest) add_problem(name, "expected a name of at most 1000 bytes for --keep");
    return name.size() <= longest &&
           std::ranges::any_of(selection_.keep, [&](const std::regex& keep) { return std::regex_search(name, keep); });
  }

  // Returns whether the tensor has the content of an embedding. Such a tensor is the head of a language model that
  // shares its weights with the embedding (tied weights).
  [[nodiscard]] bool is_tied(const Tensor& tensor) const { return embeddings_.contains(content(tensor)); }

  using Content = std::tuple<std::string_view, std::vector<std::uint64_t>, std::string_view>;  // dtype, shape, bytes
  [[nodiscard]] Content content(const Tensor& tensor) const {
    const auto bytes = file_.bytes(tensor);
    return {tensor.dtype, tensor.shape, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  }

  [[nodiscard]] bool is_converted_already(const std::string& name, const Tensor& tensor) const {
    if (!is_weight(name, tensor)) return false;
    if (!is_integer(plan_.target)) return tensor.dtype == words_.element;
    const bool may_be_integer = tensor.dtype == "I8" || (plan_.target == Target::int4 && tensor.dtype == "U8");
    return may_be_integer && file_.tensors().contains(scale_name(name));
  }

  void check_scale(const std::string& weight, const Tensor& tensor) {
    const std::string name = scale_name(weight);
    const Tensor& scale = file_.tensors().at(name);
    const std::string what = scale_complaint(file_, scale, tensor.shape[0], sign_of_scales(file_, scale), tensor.dtype);
    if (!what.empty()) add_problem(name, what);
  }

  void add_problem(const std::string& name, const std::string& what) {
    problems_.push_back("tensor " + in_quotes(name) + ": " + what);
  }

  [[nodiscard]] std::string what_there_is() const {
    std::string text = "expected a tensor of ";
    if (plan_.target != Target::float32) text += "two dimensions, of ";
    text.append("dtype ").append(words_.from);
    if (plan_.target != Target::float32) text += ", with a name that ends in .weight or _proj_weight";
    text += ", found none that is not left out";
    if (plan_.already_converted == 0) return text;
    return text.append("; number of weights that are ").append(words_.element).append(" already: ") +
           std::to_string(plan_.already_converted);
  }

  // Sorts the output tensors by element size, largest first, and then by name. Each tensor begins at the end of the
  // previous tensor.
  void place_tensors() {
    std::ranges::sort(plan_.tensors, [](const OutputTensor& a, const OutputTensor& b) {
      const auto size_a = bytes_of_element(a.named.tensor.dtype), size_b = bytes_of_element(b.named.tensor.dtype);
      return size_a != size_b ? size_a > size_b : a.named.name < b.named.name;
    });
    std::uint64_t begin = 0;
    for (OutputTensor& output : plan_.tensors) {
      Tensor& tensor = output.named.tensor;
      tensor.end = begin + (tensor.end - tensor.begin);
      tensor.begin = begin;
      begin = tensor.end;
    }
  }

  void make_header() {
    std::vector<files::NamedTensor> tensors;
    tensors.reserve(plan_.tensors.size());
    for (const OutputTensor& output : plan_.tensors) tensors.push_back(output.named);
    plan_.header = files::safetensors_header(tensors, file_.metadata());
  }

  const Safetensors& file_;
  const Selection& selection_;
  std::set<Content> embeddings_;
  ConversionPlan plan_{};
  ConversionWords words_;
  std::vector<std::string> problems_;
};

}  // namespace

ConversionWords words(Target target) {
  if (is_integer(target))
    return {"quantise", "quantised", target == Target::int4 ? "int8 or int4" : "int8", "F32, F16 or BF16"};
  if (target == Target::bfloat16) return {"convert", "converted", "BF16", "F32 or F16"};
  return {"convert", "converted", "F32", "F16 or BF16"};
}

ConversionPlan plan_conversion(const Safetensors& file, const std::string& file_name, Target target,
                               const Selection& selection) {
  if (const std::string packed = packed_weights_in(file.tensors()); !packed.empty())
    throw files::Error(file_name + ": " + packed);
  Planner planner(file, target, selection);
  for (const auto& [name, tensor] : file.tensors()) planner.add(name, tensor);
  return planner.plan(file_name);
}

}  // namespace ladon::weights
