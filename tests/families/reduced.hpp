// SPDX-License-Identifier: Apache-2.0
// Makes bfloat16 and int8 weights of float32 weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <ladon/ladon.hpp>

namespace families {

// Layouts with matrices (in, out) have float32 weights only. Their other weights have the layout with the same tensors.
constexpr ladon::LayoutKind reduced_layout(ladon::LayoutKind layout) {
  using enum ladon::LayoutKind;
  return layout == in_out ? separate_qkv : layout == in_proj_in_out ? in_proj : layout;
}

// Holds weights.
class Arena {
 public:
  template <class T>
  T* take(std::size_t count) {
    return reinterpret_cast<T*>(all_.emplace_back((count * sizeof(T) + 7) / 8).data());
  }

 private:
  std::deque<std::vector<std::uint64_t>> all_;
};

template <std::size_t Out, std::size_t In, ladon::Order O, ladon::Bias B, ladon::Order To>
void reduce(const ladon::Linear<Out, In, O, B>& from, ladon::Linear<Out, In, To, B, ladon::precision::BFloat16>& to,
            Arena& arena) {
  auto* weight = arena.take<ladon::BFloat16>(Out * In);
  for (std::size_t r = 0; r < Out; ++r) {
    for (std::size_t i = 0; i < In; ++i) {
      weight[r * In + i] = ladon::to_bfloat16(from.weight.data[r * from.row_stride + i * from.stride]);
    }
  }
  to.weight = weight;
  to.bias = from.bias;
}
template <std::size_t Out, std::size_t In, ladon::Order O, ladon::Bias B, ladon::Order To, int Bits, bool Rotated>
void reduce(const ladon::Linear<Out, In, O, B>& from,
            ladon::Linear<Out, In, To, B, ladon::precision::Int8<Bits, Rotated>>& to, Arena& arena) {
  auto* weight = arena.take<std::int8_t>(Out * In);
  auto* scale = arena.take<float>(Out);
  auto* sums = arena.take<std::int32_t>(Out);
  if constexpr (Rotated) {
    ladon::quantise_rotated(from, weight, scale);
  } else {
    ladon::quantise(from, weight, scale);
  }
  ladon::row_sums<Out, In>(weight, sums);
  to.weight = weight, to.scale = scale, to.row_sum = sums;
  to.bias = from.bias;
}
template <class From, class To, std::size_t Count>
void reduce(const std::array<From, Count>& from, std::array<To, Count>& to, Arena& arena) {
  for (std::size_t i = 0; i < Count; ++i) reduce(from[i], to[i], arena);
}
// Norms and other vectors have the same type in all precisions. Other structs consist of members.
template <class From, class To>
void reduce(const From& from, To& to, Arena& arena) {
  if constexpr (std::is_same_v<From, To>) {
    to = from;
  } else {
#define LADON_REDUCE(member)   \
  if constexpr (requires {     \
                  from.member; \
                  to.member;   \
                })             \
  reduce(from.member, to.member, arena)
    LADON_REDUCE(layers);
    LADON_REDUCE(norm);
    LADON_REDUCE(attention);
    LADON_REDUCE(self_attention);
    LADON_REDUCE(cross_attention);
    LADON_REDUCE(in_proj);
    LADON_REDUCE(query_proj);
    LADON_REDUCE(key_proj);
    LADON_REDUCE(value_proj);
    LADON_REDUCE(out_proj);
    LADON_REDUCE(query_norm);
    LADON_REDUCE(key_norm);
    LADON_REDUCE(attention_bias);
    LADON_REDUCE(gate);
    LADON_REDUCE(linear1);
    LADON_REDUCE(linear2);
    LADON_REDUCE(activation);
    LADON_REDUCE(norm1);
    LADON_REDUCE(norm2);
    LADON_REDUCE(norm3);
    LADON_REDUCE(output_norm1);
    LADON_REDUCE(output_norm2);
    LADON_REDUCE(output_norm3);
    LADON_REDUCE(scale1);
    LADON_REDUCE(scale2);
#undef LADON_REDUCE
  }
}

}  // namespace families
