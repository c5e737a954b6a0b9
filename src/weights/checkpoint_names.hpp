// SPDX-License-Identifier: Apache-2.0
// Lists the names that checkpoints of PyTorch and Hugging Face give to the tensors of a kernel.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace ladon::weights {

// What a Row takes of a tensor of the checkpoint.
enum class Cut {
  whole,
  kv_blocks,        // in_proj has a block for each key/value head, with the rows of its queries, its key and its value
  four_blocks,      // in_proj has four blocks, each with the rows of its queries, its values and its keys (CodeGen)
  times_scaling,    // the rows times factors that the tensor `scaling` of the attention determines (TimesFM)
  absent,           // no checkpoint of the family has the tensor: a bias is 0, and a gain is 1
  absent_in_first,  // the same in layer 0; other layers have the tensor
  unused,           // the file may have the tensor, which is no part of the layers
};

// Maps the role of a tensor in a kernel's weights (Member::role in spec.hpp) to the name of the tensor in a checkpoint.
// A role such as in_proj_weight has exactly this name. A role such as linear1 stands for linear1_weight, which has the
// name and ".weight", and for linear1_bias, which has the name and ".bias". The role gate+linear1 is one tensor with
// the rows of both. A star in a name stands for the numbers of the heads, which have a tensor each. The name is
// relative to the attention, the layer or the stack that has the tensor. If several Rows have the same role, the first
// Row whose name exists in the checkpoint is used.
struct Row {
  std::string_view role;
  std::string_view name;
  Cut cut = Cut::whole;
};
using Rows = std::span<const Row>;

struct Convention {
  std::string_view title;
  std::string_view attention;        // name of the attention in a layer; in a decoder, of self-attention
  std::string_view cross_attention;  // name of the attention to the memory; empty in conventions of encoders
  Rows of_attention;
  std::array<Rows, 2> of_layer;  // the feed-forward network and the norms
  // Tensors of a stack beside its list of layers. A name that begins with "^" is beside the parent of the list.
  Rows beside_layers;
  bool in_out = false;        // matrices are (in, out)
  std::string_view set = {};  // name of the list of layers in a set of weights that several layers share (ALBERT)
};

std::span<const Convention> conventions();

}  // namespace ladon::weights
