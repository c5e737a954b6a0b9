// SPDX-License-Identifier: Apache-2.0
#include "next_call.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "sources.hpp"

namespace ladon::weights {
namespace {

using files::Safetensors;

constexpr std::size_t most_calls = 4;

// Which part of a layer a tensor belongs to.
Member of_layer() { return {}; }
Member of_attention() {
  Member member;
  member.in_attention = true;
  return member;
}
Member of_cross_attention() {
  Member member = of_attention();
  member.in_cross_attention = true;
  return member;
}

// Returns whether the role of a row, such as "gate+linear1", contains the part.
bool is_of(const Row& row, const std::string& part) {
  return ("+" + std::string(row.role) + "+").find("+" + part + "+") != std::string::npos;
}

// Returns the name of a layer without its last part, which is its number, or nothing if there is no number.
std::optional<std::string> without_number(const std::string& name) {
  const auto dot = name.rfind('.');
  const std::string number = dot == name.npos ? name : name.substr(dot + 1);
  if (number.empty() || !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return dot == name.npos ? "" : name.substr(0, dot);
}

// Returns `name` without `end` and the dot before it, or nothing if it does not end so.
std::optional<std::string> without_end(const std::string& name, const std::string& end) {
  if (name == end) return "";
  if (!name.ends_with("." + end)) return std::nullopt;
  return name.substr(0, name.size() - end.size() - 1);
}

// An attention of the file, or the layer that contains it, as a convention names its tensors.
class Candidate {
 public:
  Candidate(const Safetensors& file, const Convention& convention, std::string attention)
      : file_(&file), convention_(&convention), first_(std::move(attention)) {
    const auto layer = without_end(first_, std::string(convention.attention));
    if (!layer) return;
    Candidate as_layer = *this;
    as_layer.spec_.kind = Kind::layer;
    as_layer.first_ = *layer;
    if (as_layer.tensor(of_layer(), "linear1", "weight") == nullptr) return;
    *this = as_layer;
    auto list = without_number(first_);
    if (list && !convention.set.empty()) {
      list = without_end(*list, std::string(convention.set));
      if (list) list = without_number(*list);
    }
    if (list) kind_ = Kind::stack, prefix_ = *list;
    if (!list) kind_ = Kind::layer, prefix_ = first_;
  }

  // Returns "weight" or "bias" of a part, or null if the file lacks it.
  [[nodiscard]] const files::Tensor* tensor(const Member& member, const std::string& part,
                                            const std::string& name) const {
    const files::Tensor* found = nullptr;
    Naming(*file_, spec_, *convention_, first_).for_each_row(member, [&](const Row& row, const std::string& full) {
      if (row.cut == Cut::unused || row.cut == Cut::absent || found != nullptr) return;
      if (row.role == part + "_" + name) found = find(full);
      if (is_of(row, part)) found = find(full + "." + name);
    });
    return found;
  }

  // The candidate of the larger kind, or else with more tensors in the file, has the right convention.
  [[nodiscard]] std::pair<Kind, std::size_t> rank() const {
    std::size_t count = 0;
    for (const Member& member : {of_layer(), of_attention(), of_cross_attention()}) {
      if (spec_.kind == Kind::attention && !member.in_attention) continue;
      if (member.in_cross_attention && !attends_memory()) continue;
      Naming(*file_, spec_, *convention_, first_).for_each_row(member, [&](const Row&, const std::string& full) {
        if (find(full) != nullptr || find(full + ".weight") != nullptr) ++count;
      });
    }
    return {kind_, count};
  }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  [[nodiscard]] std::string calls() const;

 private:
  [[nodiscard]] const files::Tensor* find(const std::string& name) const {
    const auto found = file_->tensors().find(name);
    return found == file_->tensors().end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool attends_memory() const {
    return spec_.kind == Kind::layer && !convention_->cross_attention.empty() &&
           weight_of_queries(of_cross_attention()) != nullptr;
  }
  [[nodiscard]] const files::Tensor* weight_of_queries(const Member& attention) const {
    const files::Tensor* const packed = tensor(attention, "in_proj", "weight");
    return packed != nullptr ? packed : tensor(attention, "query_proj", "weight");
  }
  [[nodiscard]] std::uint64_t rows(const files::Tensor& weight) const { return weight.shape[convention_->in_out]; }
  [[nodiscard]] std::uint64_t columns(const files::Tensor& weight) const { return weight.shape[!convention_->in_out]; }
  [[nodiscard]] std::string biases() const;
  [[nodiscard]] std::string feed_forward() const;
  [[nodiscard]] std::string layers() const;
  [[nodiscard]] bool has_usual_heads() const;

  const Safetensors* file_;
  const Convention* convention_;
  std::string first_;  // the name of the attention, or of the first layer
  Spec spec_{};        // its kind says what `first_` is
  Kind kind_ = Kind::attention;
  std::string prefix_ = first_;
};

// Whether as many rows as inputs make the queries, the keys and the values: one head has MODEL / HEADS features.
bool Candidate::has_usual_heads() const {
  const files::Tensor& queries = *weight_of_queries(of_attention());
  const files::Tensor* const keys = tensor(of_attention(), "key_proj", "weight");
  if (keys == nullptr) return rows(queries) == 3 * columns(queries);
  return rows(queries) == columns(queries) && keys->shape == queries.shape;
}

// Returns " BIAS .." unless all projections have a bias.
std::string Candidate::biases() const {
  const bool projections =
      tensor(of_attention(), "in_proj", "bias") != nullptr || tensor(of_attention(), "query_proj", "bias") != nullptr;
  const bool output = tensor(of_attention(), "out_proj", "bias") != nullptr;
  if (projections && output) return "";
  return projections ? " BIAS projections" : output ? " BIAS output" : " BIAS none";
}

std::string Candidate::feed_forward() const {
  const files::Tensor& linear1 = *tensor(of_layer(), "linear1", "weight");
  const files::Tensor* const gate = tensor(of_layer(), "gate", "weight");
  const std::uint64_t hidden = rows(linear1) / (gate == &linear1 ? 2 : 1);
  std::string text = " FEED_FORWARD " + std::to_string(hidden) + (gate == nullptr ? "" : " GATED");
  if (tensor(of_layer(), "linear1", "bias") == nullptr) text += " FEED_FORWARD_BIAS without";
  if (attends_memory()) text += " MEMORY <n>";
  return text;
}

std::string Candidate::layers() const {
  if (!convention_->set.empty()) return " LAYERS <n>";  // several layers share weights
  std::size_t count = 0;
  const std::string dot = prefix_.empty() ? "" : ".";
  for (bool has = true; has; count += std::size_t{has}) {
    const std::string layer = prefix_ + dot + std::to_string(count) + ".";
    const auto found = file_->tensors().lower_bound(layer);
    has = found != file_->tensors().end() && found->first.starts_with(layer);
  }
  bool has_norm = false;
  Spec stack;
  stack.kind = Kind::stack;
  Naming(*file_, stack, *convention_, prefix_).for_each_row(of_layer(), [&](const Row& row, const std::string& full) {
    has_norm |= is_of(row, "norm") && find(full + ".weight") != nullptr;
  });
  return " LAYERS " + std::to_string(count) + (has_norm ? " FINAL_NORM" : "");
}

std::string Candidate::calls() const {
  std::string type = "MultiHeadAttention", sizes, unknown = "QUERIES (the largest number of tokens), HEADS";
  if (kind_ == Kind::layer) type = attends_memory() ? "DecoderLayer" : "EncoderLayer";
  if (kind_ == Kind::stack) type = attends_memory() ? "Decoder" : "Encoder", sizes += layers();
  sizes += biases();
  if (!has_usual_heads()) unknown += ", KV_HEADS, HEAD_WIDTH";
  if (kind_ != Kind::attention) {
    sizes += feed_forward();
    unknown += ", ACTIVATION, NORM";
    if (tensor(of_layer(), "norm1", "bias") == nullptr) unknown += ", NORM_KIND, NORM_BIAS";
    unknown += ", EPSILON";
    if (attends_memory()) unknown += ", MEMORY (the largest number of tokens), MEMORY_MASK";
    if (!convention_->set.empty()) unknown += ", LAYERS";
  }
  const std::string prefix = files::in_quotes(prefix_);
  return "next: C++: ladon::safetensors::load<" + type + ">(file, " + prefix +
         ")\n      C:   ladon_add_kernel(NAME QUERIES <n> MODEL " +
         std::to_string(columns(*weight_of_queries(of_attention()))) + " HEADS <n>" + sizes + " WEIGHTS FILE PREFIX " +
         prefix + ") in CMake\n      The file cannot tell " + unknown + ", the scale, rotary embeddings and the mask\n";
}

// Calls visit(convention, name) for each attention of the file that a convention may name.
void for_each_attention(const Safetensors& file, const auto& visit) {
  for (const Convention& convention : conventions())
    for (const Row& row : convention.of_attention) {
      const bool is_whole = row.role == "in_proj_weight" || row.role == "query_proj_weight";
      if (!is_whole && row.role != "in_proj" && row.role != "query_proj") continue;
      const std::string end = std::string(row.name) + (is_whole ? "" : ".weight");
      for (const auto& [name, tensor] : file.tensors())
        if (tensor.shape.size() == 2)
          if (const auto attention = without_end(name, end)) visit(convention, *attention);
    }
}

}  // namespace

std::string next_calls(const Safetensors& file) {
  std::map<std::string, Candidate> best;  // by prefix
  Kind largest = Kind::attention;
  for_each_attention(file, [&](const Convention& convention, const std::string& attention) {
    const Candidate candidate(file, convention, attention);
    largest = std::max(largest, candidate.kind());
    const auto found = best.find(candidate.prefix());
    if (found == best.end()) best.emplace(candidate.prefix(), candidate);
    if (found != best.end() && candidate.rank() > found->second.rank()) found->second = candidate;
  });
  std::string text;
  std::size_t count = 0;
  for (const auto& [prefix, candidate] : best)
    if (candidate.kind() == largest && count++ < most_calls) text += candidate.calls();
  return text;
}

}  // namespace ladon::weights
