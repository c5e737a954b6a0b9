// SPDX-License-Identifier: Apache-2.0
// Lists the tensors of a checkpoint from which a member (a tensor of the kernel) can be made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_names.hpp"
#include "safetensors.hpp"
#include "spec.hpp"

namespace ladon::weights {

// Some rows of a tensor in the file. If the tensor has one dimension, each element is a row.
struct Piece {
  std::string tensor;                // the name in the file
  std::vector<std::uint64_t> shape;  // the required shape: (outputs, inputs)
  std::uint64_t first_row;
  std::uint64_t rows;
  bool in_out = false;       // the tensor in the file is (inputs, outputs), so its columns are the rows
  std::string scaling = {};  // a tensor whose softplus, times log2(e) / sqrt(size), multiplies the rows in turn; or ""
  bool any_shape = false;    // the tensor may have other dimensions with as many elements
  bool absent = false;       // no file of the family has the tensor: biases are 0, and gains are 1
  bool merged = false;       // an extent may be several neighbouring extents of the tensor (merges_to)
};

// Pieces of the file. A member (a tensor of the kernel) is made of the rows of the pieces, one piece after another.
using Source = std::vector<Piece>;

// Returns the largest integer whose square is at most `square`.
std::uint64_t integer_root(std::uint64_t square);

// The names of a checkpoint: a convention, and where the layers are.
class Naming {
 public:
  // For a stack, `prefix` ends before the number of the layer.
  Naming(const files::Safetensors& file, const Spec& spec, const Convention& convention, std::string prefix);

  [[nodiscard]] const Convention& convention() const { return *convention_; }

  // Returns all sources of the member. A source that is one whole tensor comes before a source that joins tensors or
  // takes rows of a tensor. Returns no source if the convention has no name for the member.
  [[nodiscard]] std::vector<Source> sources(const Member& member) const;

  // Calls visit(row, name) for each row that the convention has for the attention, the layer or the stack of `member`.
  // `name` is the full name in the file, for a row such as linear1 without ".weight".
  template <class Visit>
  void for_each_row(const Member& member, const Visit& visit) const {
    const std::string beginning = base(member);
    for (const Rows rows : tables(member))
      for (const Row& row : rows) visit(row, full_name(beginning, row.name));
  }

 private:
  [[nodiscard]] std::string layer(std::size_t number) const;
  [[nodiscard]] bool is_first_layer(const Member& member) const;
  [[nodiscard]] std::string base(const Member& member) const;
  [[nodiscard]] std::array<Rows, 2> tables(const Member& member) const;
  [[nodiscard]] static std::string full_name(const std::string& beginning, std::string_view name);
  [[nodiscard]] std::vector<Source> whole(const Member& member, std::string_view role) const;
  [[nodiscard]] Source one_for_each_head(const Member& member, const std::string& name) const;
  [[nodiscard]] Source fused(const Member& member, std::string_view parts, const std::string& name) const;
  [[nodiscard]] Source distances_of_image(const Member& member, Piece table) const;
  void add_from_in_proj(const Member& member, std::vector<Source>& found) const;
  void add_from_projections(const Member& member, std::vector<Source>& found) const;

  const files::Safetensors* file_;
  const Spec* spec_;
  const Convention* convention_;
  std::string prefix_;
  std::size_t layers_ = 0, sets_ = 0, layers_of_set_ = 0;  // for layers that share sets of weights
};

}  // namespace ladon::weights
