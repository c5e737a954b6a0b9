// A layer's weights: views in the layouts that checkpoints have. Nothing is packed or copied; every layout gives the
// same numbers to the last bit, for it only changes the strides by which a product reads.
#pragma once

#include <array>
#include <cstddef>

#include <ladon/matrix.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI {

// y = x W^T + b with W [Out][In], as PyTorch stores it; or y = x W + b with W [In][Out], as Keras and textbooks do.
enum class Order { out_in, in_out };

template <std::size_t Out, std::size_t In, Order O = Order::out_in>
struct Linear {
  static constexpr std::size_t row_stride = O == Order::out_in ? In : 1;
  static constexpr std::size_t inner_stride = O == Order::out_in ? 1 : Out;
  using Rows = WeightRows<row_stride, inner_stride>;

  Matrix<const float, O == Order::out_in ? Out : In, O == Order::out_in ? In : Out> weight;
  Vector<const float, Out> bias;

  constexpr Rows rows_from(std::size_t first) const noexcept {
    return {weight.data + first * row_stride, bias.data + first};
  }
};

// LayerNorm's gain and shift [Size]; epsilon is added to the variance.
template <std::size_t Size>
struct Norm {
  Vector<const float, Size> weight;
  Vector<const float, Size> bias;
  float epsilon = 1e-5f;
};

// A layout names the tensors of attention's four projections and finds the rows of one head in them.
namespace layout {

// PyTorch's MultiheadAttention: one in_proj for queries, keys and values, in that order, (out, in).
struct InProj {
  static constexpr Order order = Order::out_in;
  template <Shape S>
  struct Weights {
    Linear<S.query_rows() + S.key_rows() + S.value_rows(), S.model> in_proj;
    Linear<S.model, S.concat_width()> out_proj;

    constexpr auto query(std::size_t head) const noexcept { return in_proj.rows_from(head * S.head_width); }
    constexpr auto key(std::size_t head) const noexcept {
      return in_proj.rows_from(S.query_rows() + head * S.head_width);
    }
    constexpr auto value(std::size_t head) const noexcept {
      return in_proj.rows_from(S.query_rows() + S.key_rows() + head * S.value_width);
    }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};

// One matrix for all heads, in the given order.
template <Order O>
struct PerProjection {
  static constexpr Order order = O;
  template <Shape S>
  struct Weights {
    Linear<S.query_rows(), S.model, O> query_proj;
    Linear<S.key_rows(), S.model, O> key_proj;
    Linear<S.value_rows(), S.model, O> value_proj;
    Linear<S.model, S.concat_width(), O> out_proj;

    constexpr auto query(std::size_t head) const noexcept { return query_proj.rows_from(head * S.head_width); }
    constexpr auto key(std::size_t head) const noexcept { return key_proj.rows_from(head * S.head_width); }
    constexpr auto value(std::size_t head) const noexcept { return value_proj.rows_from(head * S.value_width); }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};

// q, k, v and output apart, each (out, in): Hugging Face's BERT.
using SeparateQKV = PerProjection<Order::out_in>;

// q, k, v and output apart, each (in, out): Keras' kernels (model, heads, width) and (heads, width, model).
using InOut = PerProjection<Order::in_out>;

// The textbook's: x Wq with one small (in, out) matrix for each head, and concat(heads) Wo.
struct PerHead {
  static constexpr Order order = Order::in_out;
  template <Shape S>
  struct Weights {
    std::array<Linear<S.head_width, S.model, Order::in_out>, S.heads> query_proj;
    std::array<Linear<S.head_width, S.model, Order::in_out>, S.kv_heads> key_proj;
    std::array<Linear<S.value_width, S.model, Order::in_out>, S.kv_heads> value_proj;
    Linear<S.model, S.concat_width(), Order::in_out> out_proj;

    constexpr auto query(std::size_t head) const noexcept { return query_proj[head].rows_from(0); }
    constexpr auto key(std::size_t head) const noexcept { return key_proj[head].rows_from(0); }
    constexpr auto value(std::size_t head) const noexcept { return value_proj[head].rows_from(0); }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};

}  // namespace layout
}  // namespace ladon::inline LADON_ABI
