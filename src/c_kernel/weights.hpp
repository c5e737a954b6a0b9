// SPDX-License-Identifier: Apache-2.0
// Converts NAME_weights into the C++ weights of the kernel. The C++ member `part.weight` corresponds to the C member
// `part_weight`. The layout, the precision and the biases of the kernel determine which members exist. tensors.hpp
// lists the parts.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <ladon/ladon.hpp>

#include "tensors.hpp"

namespace c_kernel::inline LADON_ABI {

// Converts pointers to tensors into views. WeightsReader checks that no pointer is null and that no tensor overlaps
// with memory that the call writes. `M` is the model of the kernel.
template <class Checked, ladon::Model M>
struct WeightsReader {
  Checked& check;
  float epsilon;

  // Whether a layer does not use the part, whose pointers may then be null.
  static constexpr bool omits(bool is_norm1, std::size_t layer) {
    constexpr bool may_omit = ladon::detail::value_of<M>.has_unnormed_kind();
    return may_omit && is_norm1 && ladon::detail::value_of<M>.unnormed(layer);
  }

  template <class Element, class Tensor>
  void tensor(const Element* from, Tensor& to) const {
    check.reads_weights(from, Tensor::size * sizeof(Element));
    if constexpr (std::is_same_v<decltype(to.data), const ladon::BFloat16*>) {
      static_assert(sizeof(Element) == sizeof(ladon::BFloat16));
      to = Tensor(reinterpret_cast<const ladon::BFloat16*>(from));
    } else {
      to = Tensor(from);
    }
  }

// Converts one part of the weights from the C struct `from` to the C++ struct `to`, if the part exists. If the part is
// an array, converts the element of each head. The macro must be used in a template. Outside a template, the compiler
// would also check the branches of `if constexpr` that are not taken, and would reject a part that does not exist.
#define LADON_TAKE(part)                                                                              \
  if constexpr (requires { to.part.weight; }) {                                                       \
    tensor(from.part##_weight, to.part.weight);                                                       \
    if constexpr (requires { to.part.scale; }) {                                                      \
      tensor(from.part##_weight_scale, to.part.scale);                                                \
      tensor(from.part##_weight_row_sum, to.part.row_sum);                                            \
    }                                                                                                 \
    if constexpr (requires { to.part.bias.data; }) tensor(from.part##_bias, to.part.bias);            \
  } else if constexpr (requires { to.part.data; }) {                                                  \
    tensor(from.part, to.part);                                                                       \
  } else if constexpr (requires { to.part[0].weight; }) {                                             \
    for (std::size_t h = 0; h < to.part.size(); ++h) {                                                \
      tensor(from.part##_weight[h], to.part[h].weight);                                               \
      if constexpr (requires { to.part[h].bias.data; }) tensor(from.part##_bias[h], to.part[h].bias); \
    }                                                                                                 \
  }
  template <class From, class To>
  void attention(const From& from, To& to) const {
    LADON_ATTENTION_PARTS(LADON_TAKE)
    if constexpr (requires { to.query_norm.epsilon; }) to.query_norm.epsilon = to.key_norm.epsilon = epsilon;
  }
// Converts the attention `name` of a layer from the C struct `from` to the C++ struct `to`, if the layer has this
// attention.
#define LADON_TAKE_ATTENTION(name) \
  if constexpr (requires { to.name; }) attention(from.name, to.name);
#define LADON_SET_EPSILON(part) \
  if constexpr (requires { to.part.epsilon; }) to.part.epsilon = epsilon;
#define LADON_TAKE_OF_LAYER(part)                                 \
  {                                                               \
    constexpr bool is_norm1 = std::string_view(#part) == "norm1"; \
    if (!omits(is_norm1, number)) {                               \
      LADON_TAKE(part)                                            \
    }                                                             \
  }
  template <class From, class To>
  void layer(const From& from, To& to, [[maybe_unused]] std::size_t number = 0) const {
    LADON_ATTENTIONS(LADON_TAKE_ATTENTION)
    LADON_LAYER_PARTS(LADON_TAKE_OF_LAYER)
    LADON_NORMS(LADON_SET_EPSILON)
  }
#undef LADON_TAKE_OF_LAYER
#undef LADON_SET_EPSILON
#undef LADON_TAKE_ATTENTION
  template <class From, class To>
  void all(const From& from, To& to) const {
    if constexpr (requires { to.layers; }) {
      for (std::size_t i = 0; i < to.layers.size(); ++i) layer(from.layers[i], to.layers[i], i);
      LADON_STACK_PARTS(LADON_TAKE)
      if constexpr (requires { to.norm.weight; }) to.norm.epsilon = epsilon;
    } else if constexpr (requires { to.norm1; }) {
      layer(from, to);
    } else {
      attention(from, to);
    }
  }
#undef LADON_TAKE
};

}  // namespace c_kernel::inline LADON_ABI
