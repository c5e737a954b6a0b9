// SPDX-License-Identifier: Apache-2.0
// How checkpoints name what a kernel needs.
#pragma once

#include <span>
#include <string_view>

namespace ladon::weights {

// A member's role, and what it is called below the attention, the layer or the stack that it belongs to.
// A role may have several rows: the first name that a file has is taken.
struct Row {
  std::string_view role;
  std::string_view name;
};

struct Convention {
  std::string_view title;
  std::string_view layers;     // the list of a stack's layers. In C++ and CMake, the prefix ends with this name
  std::string_view attention;  // where a layer has its attention
  std::span<const Row> of_attention;
  std::span<const Row> of_layer;
  std::span<const Row> beside_layers;  // of a stack, where its list of layers is
};

std::span<const Convention> conventions();

}  // namespace ladon::weights
