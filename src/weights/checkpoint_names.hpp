// SPDX-License-Identifier: Apache-2.0
// Lists the names that checkpoints of PyTorch and Hugging Face give to the tensors of a kernel.
#pragma once

#include <span>
#include <string_view>

namespace ladon::weights {

// Maps the role of a tensor in a kernel's weights, such as in_proj_weight (Member::role in spec.hpp), to the name of
// the tensor in a checkpoint. The name is relative to the attention, the layer or the stack that has the tensor. If
// several Rows have the same role, the first Row whose name exists in the checkpoint is used.
struct Row {
  std::string_view role;
  std::string_view name;
};

struct Convention {
  std::string_view title;
  std::string_view layers;     // name of a stack's list of layers; the user's prefix for a stack ends with this name
  std::string_view attention;  // name of the attention in a layer; in a decoder, of self-attention
  std::string_view cross_attention;  // name of the attention to the memory; empty if the convention has no decoder
  std::span<const Row> of_attention;
  std::span<const Row> of_layer;
  std::span<const Row> beside_layers;  // tensors of a stack beside its list of layers
};

std::span<const Convention> conventions();

}  // namespace ladon::weights
