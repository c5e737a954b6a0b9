// A layer's weights: views in the layouts that checkpoints have. Nothing is packed or copied; every layout gives the
// same numbers to the last bit, for it only changes the strides by which a product reads. (Nine queries and keys or
// more: for a single one the lanes lie where weights are contiguous, for a few the lanes that they leave idle hold
// parts of a sum, and sums run in another order.)
#pragma once

#include <array>
#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/memory/weight_rows.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// y = x W^T + b with W [Out][In], as PyTorch stores it; or y = x W + b with W [In][Out], as Keras and textbooks do.
enum class Order { out_in, in_out };

// How the weight of a Linear lies in memory.
template <std::size_t Out, std::size_t In, Order O, Bias B>
struct LinearStrides {
  static constexpr std::size_t row = O == Order::out_in ? In : 1;
  static constexpr std::size_t inner = O == Order::out_in ? 1 : Out;
  using Weight = Matrix<const float, O == Order::out_in ? Out : In, O == Order::out_in ? In : Out>;
  using Rows = WeightRows<row, inner, B>;
};

template <std::size_t Out, std::size_t In, Order O = Order::out_in, Bias B = Bias::with>
struct Linear {
  using Strides = LinearStrides<Out, In, O, B>;
  typename Strides::Weight weight;
  Vector<const float, Out> bias;

  constexpr typename Strides::Rows rows_from(std::size_t first) const noexcept {
    LADON_EXPECTS(weight.data != nullptr && bias.data != nullptr, "ladon: a linear lacks its weight or its bias");
    return {weight.data + first * Strides::row, bias.data + first};
  }
};
// y = x W^T, or y = x W.
template <std::size_t Out, std::size_t In, Order O>
struct Linear<Out, In, O, Bias::without> {
  using Strides = LinearStrides<Out, In, O, Bias::without>;
  typename Strides::Weight weight;

  constexpr typename Strides::Rows rows_from(std::size_t first) const noexcept {
    LADON_EXPECTS(weight.data != nullptr, "ladon: a linear lacks its weight");
    return {weight.data + first * Strides::row};
  }
};

// layer: LayerNorm (Ba, Kiros and Hinton, arXiv 1607.06450), (x - mean) / sqrt(variance + epsilon) * weight + bias.
// rms: RMSNorm (Zhang and Sennrich, arXiv 1910.07467), x / sqrt(mean of squares + epsilon) * weight.
enum class NormKind { layer, rms };

// A norm's gain and shift [Size].
template <std::size_t Size, NormKind K = NormKind::layer>
struct Norm {
  Vector<const float, Size> weight;
  Vector<const float, Size> bias;
  float epsilon = 1e-5f;
};
template <std::size_t Size>
struct Norm<Size, NormKind::rms> {
  Vector<const float, Size> weight;
  float epsilon = 1e-5f;
};

// A layout names the tensors of attention's four projections and finds the rows of one head in them. `projections` and
// `output` say which of them have biases; Biased is the same layout with others.
namespace layout {

// PyTorch's MultiheadAttention: one in_proj for queries, keys and values, in that order, (out, in).
template <Bias Projections, Bias Output>
struct PackedInProj {
  static constexpr Order order = Order::out_in;
  static constexpr Bias projections = Projections, output = Output;
  template <Bias P, Bias O>
  using Biased = PackedInProj<P, O>;

  template <Shape S>
  struct Weights {
    static_assert(S.key_model == S.model && S.value_model == S.model,
                  "ladon: one in_proj takes queries, keys and values from tokens of one width; take SeparateQKV");
    static constexpr bool heads_adjacent = true;  // the rows of a head follow those of the one before
    Linear<S.query_rows() + S.key_rows() + S.value_rows(), S.model, order, Projections> in_proj;
    Linear<S.model, S.concat_width(), order, Output> out_proj;

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
using InProj = PackedInProj<Bias::with, Bias::with>;

// One matrix for all heads, in the given order.
template <Order O, Bias Projections, Bias Output>
struct PerProjection {
  static constexpr Order order = O;
  static constexpr Bias projections = Projections, output = Output;
  template <Bias P, Bias Q>
  using Biased = PerProjection<O, P, Q>;

  template <Shape S>
  struct Weights {
    static constexpr bool heads_adjacent = true;
    Linear<S.query_rows(), S.model, O, Projections> query_proj;
    Linear<S.key_rows(), S.key_model, O, Projections> key_proj;
    Linear<S.value_rows(), S.value_model, O, Projections> value_proj;
    Linear<S.model, S.concat_width(), O, Output> out_proj;

    constexpr auto query(std::size_t head) const noexcept { return query_proj.rows_from(head * S.head_width); }
    constexpr auto key(std::size_t head) const noexcept { return key_proj.rows_from(head * S.head_width); }
    constexpr auto value(std::size_t head) const noexcept { return value_proj.rows_from(head * S.value_width); }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};

// q, k, v and output apart, each (out, in): Hugging Face's BERT, and PyTorch's MultiheadAttention with kdim or vdim
// (where the biases are still packed: parts of in_proj_bias).
using SeparateQKV = PerProjection<Order::out_in, Bias::with, Bias::with>;

// q, k, v and output apart, each (in, out): Keras' kernels (model, heads, width) and (heads, width, model).
using InOut = PerProjection<Order::in_out, Bias::with, Bias::with>;

// The textbook's: x Wq with one small (in, out) matrix for each head, and concat(heads) Wo.
template <Bias Projections, Bias Output>
struct MatrixPerHead {
  static constexpr Order order = Order::in_out;
  static constexpr Bias projections = Projections, output = Output;
  template <Bias P, Bias O>
  using Biased = MatrixPerHead<P, O>;

  template <Shape S>
  struct Weights {
    static constexpr bool heads_adjacent = false;
    std::array<Linear<S.head_width, S.model, order, Projections>, S.heads> query_proj;
    std::array<Linear<S.head_width, S.key_model, order, Projections>, S.kv_heads> key_proj;
    std::array<Linear<S.value_width, S.value_model, order, Projections>, S.kv_heads> value_proj;
    Linear<S.model, S.concat_width(), order, Output> out_proj;

    constexpr auto query(std::size_t head) const noexcept { return query_proj[head].rows_from(0); }
    constexpr auto key(std::size_t head) const noexcept { return key_proj[head].rows_from(0); }
    constexpr auto value(std::size_t head) const noexcept { return value_proj[head].rows_from(0); }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};
using PerHead = MatrixPerHead<Bias::with, Bias::with>;

// No projection has a bias: T5, Llama.
template <class Layout>
using WithoutBias = typename Layout::template Biased<Bias::without, Bias::without>;

// Queries, keys and values as in Layout, the output without a bias: Qwen2.
template <class Layout>
using WithoutOutputBias = typename Layout::template Biased<Layout::projections, Bias::without>;

}  // namespace layout
}  // namespace ladon::inline LADON_ABI
