// SPDX-License-Identifier: Apache-2.0
// The weights of attention and of layers. The weights are views of tensors, in the layouts that checkpoints use. The
// library reads the tensors in place and never copies a whole tensor. Products of several tokens may convert bfloat16
// and int8 weights on the stack, a few rows at a time.
//
// A layout determines the precision of the weights and the strides with which matrix products read the weights. If the
// numbers of queries and keys are multiples of 16, all layouts of float32 weights give bit-identical results. With
// other numbers, sums may be added in a different order for each layout, so the last bits of a result may differ:
// - A single token: the lanes of a register hold contiguous weights. In some layouts, these weights belong to one sum,
//   in others to different sums.
// - A few tokens, or the last few tokens of a sequence: the tokens do not fill the lanes of a register. If a row of
//   weights is contiguous, the idle lanes hold partial sums.
//
// The results of int8 weights never depend on the layout, because their integer sums are exact.
//
// Implementation: detail/product/product.hpp reads weights through WeightRows and Int8Rows
// (detail/panel/rows.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/checks.hpp>
#include <ladon/detail/panel/rotate_int8.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// The order of a weight matrix W in memory:
//     out_in   W is [Out][In], and y = x W^T + b, as in PyTorch
//     in_out   W is [In][Out], and y = x W + b, as in Keras and in textbooks
enum class Order { out_in, in_out };

// The precision of the weights of linear maps. Activations, biases and norms are float32. Shape::cache_precision is the
// precision of caches.
//     Float32        weights are floats
//     BFloat16       weights are bfloat16 (bfloat16.hpp). On targets with AVX512_BF16 or FEAT_BF16 of Arm, products
//                    round their inputs to bfloat16 (detail/panel/input.hpp). On other targets, products
//                    convert the weights to floats, exactly
//     Int8<bits>     weights are 8-bit integers with one scale for each output (Linear). The input of a product is
//                    quantised to integers of `bits` bits when a call runs (detail/panel/quantise.hpp)
//     Int8<bits, true>   like Int8<bits>, but blocks of eight weights, and blocks of eight inputs, are multiplied by a
//                    Hadamard matrix before they are quantised (detail/panel/rotate_int8.hpp). The error is smaller
//                    than with Int8<bits>. All scales are negative. This rotation is not a rotary position embedding
//
// On targets with AVX512_BF16, BFloat16 and Int8 also change the attention of several queries: queries, keys, values
// and attention weights are rounded to bfloat16 (detail/attention/bfloat16_attention.hpp).
namespace precision {
struct Float32 {};
struct BFloat16 {};
template <int ActivationBits, bool Rotated = false>
struct Int8 {
  static_assert(ActivationBits == 7 || ActivationBits == 8, "ladon: activations have 7 or 8 bits");
};

template <class Precision>
inline constexpr bool is_int8 = false;
template <int Bits, bool Rotated>
inline constexpr bool is_int8<Int8<Bits, Rotated>> = true;
}  // namespace precision

// The strides of the weight of a Linear. Element (out, in) of the weight has the index out * row + in * inner.
template <std::size_t Out, std::size_t In, Order O, Bias B, class Element = float>
struct LinearStrides {
  static constexpr std::size_t row = O == Order::out_in ? In : 1;
  static constexpr std::size_t inner = O == Order::out_in ? 1 : Out;
  using Weight = MatrixView<const Element, O == Order::out_in ? Out : In, O == Order::out_in ? In : Out>;
  using Rows = detail::WeightRows<detail::WeightMatrix<Element, row, inner>,
                                  std::conditional_t<B == Bias::with, detail::BiasVector, detail::NoBias>>;
};

// A linear map from x [In] to y [Out], with a weight in the order `O` and a bias [Out].
template <std::size_t Out, std::size_t In, Order O = Order::out_in, Bias B = Bias::with,
          class Precision = precision::Float32>
struct Linear {
  using Strides = LinearStrides<Out, In, O, B>;
  typename Strides::Weight weight;
  VectorView<const float, Out> bias;
  LADON_CALLER_MEMBER

  // Returns the weights and biases of the outputs from number `first` on. A null pointer breaks a precondition
  // (checks.hpp).
  constexpr typename Strides::Rows rows_from(std::size_t first) const noexcept {
    LADON_EXPECTS(weight.data != nullptr && bias.data != nullptr, "ladon: a linear lacks its weight or its bias",
                  caller);
    return {{weight.data + first * Strides::row}, {bias.data + first}};
  }
};
// A linear map without a bias.
template <std::size_t Out, std::size_t In, Order O>
struct Linear<Out, In, O, Bias::without, precision::Float32> {
  using Strides = LinearStrides<Out, In, O, Bias::without>;
  typename Strides::Weight weight;
  LADON_CALLER_MEMBER

  constexpr typename Strides::Rows rows_from(std::size_t first) const noexcept {
    LADON_EXPECTS(weight.data != nullptr, "ladon: a linear lacks its weight", caller);
    return {{weight.data + first * Strides::row}, {}};
  }
};

// A linear map with bfloat16 weights. The order of the weight must be out_in.
template <std::size_t Out, std::size_t In, Order O, Bias B>
struct Linear<Out, In, O, B, precision::BFloat16> {
  static_assert(O == Order::out_in,
                "ladon: bfloat16 weights are (out, in): take layout::InProj or layout::SeparateQKV");
  static_assert(!LADON_DETERMINISTIC || Out == 0,  // depends on Out, so that the assertion fails only in a use
                "ladon: layout::BFloat16 does not compile with LADON_DETERMINISTIC, because instructions for bfloat16 "
                "flush subnormals to zero");
  using Strides = LinearStrides<Out, In, O, B, BFloat16>;
  typename Strides::Weight weight;
  [[no_unique_address]] std::conditional_t<B == Bias::with, VectorView<const float, Out>, detail::NoBias> bias;
  LADON_CALLER_MEMBER

  constexpr typename Strides::Rows rows_from(std::size_t first) const noexcept {
    LADON_EXPECTS(weight.data != nullptr, "ladon: a bfloat16 linear lacks its weight", caller);
    if constexpr (B == Bias::with) {
      LADON_EXPECTS(bias.data != nullptr, "ladon: a bfloat16 linear lacks its bias", caller);
      return {{weight.data + first * In}, {bias.data + first}};
    } else {
      return {{weight.data + first * In}, {}};
    }
  }
};

// A linear map with int8 weights: row r of the float matrix is about scale[r] * weight[r]. `row_sum` holds the sum of
// each row of `weight`. Kernels read `row_sum` only if the target has an instruction for 8-bit activations, such as
// vpdpbusd of VNNI or SDOT of Arm. `quantise` and `row_sums` (quantise.hpp) compute the members. `weight` needs no
// alignment.
//
// If `Rotated` is true, 8 * scale[r] * weight[r] approximates row r of the product of the float matrix and the rotation
// matrix (detail/panel/rotate_int8.hpp). `quantise_rotated` computes the weights and the scales. The scales are
// negative, to distinguish rotated weights from other int8 weights in files.
template <std::size_t Out, std::size_t In, Order O, Bias B, int Bits, bool Rotated>
struct Linear<Out, In, O, B, precision::Int8<Bits, Rotated>> {
  static_assert(
      O == Order::out_in,
      "ladon: int8 weights are (out, in): take layout::InProj or layout::SeparateQKV; ladon::quantise converts "
      "weights of any order");
  static_assert(In <= detail::most_int8_features, "ladon: an int8 linear has at most 65,536 inputs");
  static_assert(!Rotated || In % detail::rotated_block == 0,
                "ladon: the number of inputs of a rotated int8 linear is a multiple of 8");
  static constexpr bool rotated = Rotated;
  using Rows = detail::Int8Rows<In, std::conditional_t<B == Bias::with, detail::BiasVector, detail::NoBias>>;
  MatrixView<const std::int8_t, Out, In> weight;
  VectorView<const float, Out> scale;
  VectorView<const std::int32_t, Out> row_sum;
  [[no_unique_address]] std::conditional_t<B == Bias::with, VectorView<const float, Out>, detail::NoBias> bias;
  LADON_CALLER_MEMBER

  constexpr Rows rows_from(std::size_t first) const noexcept {
    LADON_EXPECTS(weight.data != nullptr && scale.data != nullptr && row_sum.data != nullptr,
                  "ladon: an int8 linear lacks its weight, its scale or its row_sum", caller);
    if constexpr (B == Bias::with) {
      LADON_EXPECTS(bias.data != nullptr, "ladon: an int8 linear lacks its bias", caller);
      return {{weight.data + first * In}, scale.data + first, row_sum.data + first, {bias.data + first}};
    } else {
      return {{weight.data + first * In}, scale.data + first, row_sum.data + first, {}};
    }
  }
};

// The kinds of norms of a vector x:
//     layer   (x - mean) / sqrt(variance + epsilon) * weight + bias   LayerNorm, arXiv 1607.06450
//     rms     x / sqrt(mean of squares + epsilon) * weight            RMSNorm, arXiv 1910.07467
//
// Ba, Kiros and Hinton proposed LayerNorm. Zhang and Sennrich proposed RMSNorm.
enum class NormKind { layer, rms };

// The weights of a norm: the gain `weight` [Size] and the shift `bias` [Size]. RMSNorm has no shift. LayerNorm has no
// shift if B is Bias::without, like PyTorch's LayerNorm(bias=False). A LayerNorm without a shift gives bit-identical
// results to a LayerNorm whose shift is 0.
template <std::size_t Size, NormKind K = NormKind::layer, Bias B = Bias::with>
struct Norm {
  VectorView<const float, Size> weight;
  VectorView<const float, Size> bias;
  float epsilon = 1e-5f;
  LADON_CALLER_MEMBER
};
template <std::size_t Size, NormKind K, Bias B>
  requires(K == NormKind::rms || B == Bias::without)
struct Norm<Size, K, B> {
  VectorView<const float, Size> weight;
  float epsilon = 1e-5f;
  LADON_CALLER_MEMBER
};

// Layouts. A layout declares the tensors of the four projections of attention, and returns the rows of each head in
// these tensors. Rows are WeightRows or Int8Rows (detail/panel/rows.hpp). Every layout has the following
// members:
//     Precision                      the precision of the weights
//     With<Q>                        the same layout, with Precision = Q
//     projections                    whether the query, key and value projections have biases
//     output                         whether the output projection has a bias
//     Biased<P, Q>                   the same layout, with projections = P and output = Q
//     Weights<S>                     the tensors for the shape S
//     Weights<S>::query(head)        returns the rows of the query projection for one head
//     Weights<S>::key(head)          returns the rows of the key projection for one head
//     Weights<S>::value(head)        returns the rows of the value projection for one head
//     Weights<S>::output()           returns all rows of the output projection
//     Weights<S>::heads_adjacent     whether the rows of head h + 1 directly follow the rows of head h in memory
namespace layout {

// The layout of PyTorch's MultiheadAttention. One tensor in_proj [out][in] holds the rows of queries, keys and values,
// in this order. Another tensor out_proj [out][in] holds the output projection.
template <Bias Projections, Bias Output, class PrecisionGiven = precision::Float32>
struct PackedInProj {
  using Precision = PrecisionGiven;
  static constexpr Order order = Order::out_in;
  static constexpr Bias projections = Projections, output = Output;
  template <Bias P, Bias O>
  using Biased = PackedInProj<P, O, Precision>;
  template <class Q>
  using With = PackedInProj<Projections, Output, Q>;

  template <Shape S>
  struct Weights {
    static_assert(S.key_model == S.model && S.value_model == S.model,
                  "ladon: one in_proj takes queries, keys and values from tokens of one width; take SeparateQKV");
    static constexpr bool heads_adjacent = true;
    using Precision = PrecisionGiven;
    Linear<S.query_rows() + S.key_rows() + S.value_rows(), S.model, order, Projections, Precision> in_proj;
    Linear<S.model, S.concat_width(), order, Output, Precision> out_proj;

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

// One tensor for each projection, in the order `O`. A tensor holds the rows of all heads.
template <Order O, Bias Projections, Bias Output, class PrecisionGiven = precision::Float32>
struct PerProjection {
  using Precision = PrecisionGiven;
  static constexpr Order order = O;
  static constexpr Bias projections = Projections, output = Output;
  template <Bias P, Bias Q>
  using Biased = PerProjection<O, P, Q, Precision>;
  template <class Q>
  using With = PerProjection<O, Projections, Output, Q>;

  template <Shape S>
  struct Weights {
    static constexpr bool heads_adjacent = true;
    using Precision = PrecisionGiven;
    Linear<S.query_rows(), S.model, O, Projections, Precision> query_proj;
    Linear<S.key_rows(), S.key_model, O, Projections, Precision> key_proj;
    Linear<S.value_rows(), S.value_model, O, Projections, Precision> value_proj;
    Linear<S.model, S.concat_width(), O, Output, Precision> out_proj;

    constexpr auto query(std::size_t head) const noexcept { return query_proj.rows_from(head * S.head_width); }
    constexpr auto key(std::size_t head) const noexcept { return key_proj.rows_from(head * S.head_width); }
    constexpr auto value(std::size_t head) const noexcept { return value_proj.rows_from(head * S.value_width); }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};

// Separate tensors for queries, keys, values and output, each [out][in]. Hugging Face's BERT has this layout, and so
// does PyTorch's MultiheadAttention with kdim or vdim. PyTorch still stores the biases of queries, keys and values in
// one tensor, in_proj_bias.
using SeparateQKV = PerProjection<Order::out_in, Bias::with, Bias::with>;

// Separate tensors for queries, keys, values and output, each [in][out]. Keras has this layout: its weights have the
// shape (model, heads, width) for queries, keys and values, and (heads, width, model) for the output.
using InOut = PerProjection<Order::in_out, Bias::with, Bias::with>;

// The layout of textbooks. Each head has a separate matrix [in][out] for queries, keys and values. One matrix Wo
// [in][out] multiplies the concatenated heads.
template <Bias Projections, Bias Output, class PrecisionGiven = precision::Float32>
struct MatrixPerHead {
  using Precision = PrecisionGiven;
  static constexpr Order order = Order::in_out;
  static constexpr Bias projections = Projections, output = Output;
  template <Bias P, Bias O>
  using Biased = MatrixPerHead<P, O, Precision>;
  template <class Q>
  using With = MatrixPerHead<Projections, Output, Q>;

  template <Shape S>
  struct Weights {
    static constexpr bool heads_adjacent = false;
    using Precision = PrecisionGiven;
    std::array<Linear<S.head_width, S.model, order, Projections, Precision>, S.heads> query_proj;
    std::array<Linear<S.head_width, S.key_model, order, Projections, Precision>, S.kv_heads> key_proj;
    std::array<Linear<S.value_width, S.value_model, order, Projections, Precision>, S.kv_heads> value_proj;
    Linear<S.model, S.concat_width(), order, Output, Precision> out_proj;

    constexpr auto query(std::size_t head) const noexcept { return query_proj[head].rows_from(0); }
    constexpr auto key(std::size_t head) const noexcept { return key_proj[head].rows_from(0); }
    constexpr auto value(std::size_t head) const noexcept { return value_proj[head].rows_from(0); }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};
using PerHead = MatrixPerHead<Bias::with, Bias::with>;

// The layout `Layout` without any bias, as in T5 and Llama.
template <class Layout>
using WithoutBias = typename Layout::template Biased<Bias::without, Bias::without>;

// The layout `Layout` without the bias of the output projection, as in Qwen2.
template <class Layout>
using WithoutOutputBias = typename Layout::template Biased<Layout::projections, Bias::without>;

// The layout `Layout` without biases of the query, key and value projections, as in the Keyword Transformer (arXiv
// 2104.00769). The output projection has a bias if the output projection of `Layout` has a bias.
template <class Layout>
using WithoutProjectionBias = typename Layout::template Biased<Bias::without, Layout::output>;

// The layout `Layout` with bfloat16 weights.
template <class Layout>
using BFloat16 = typename Layout::template With<precision::BFloat16>;

// The layout `Layout` with int8 weights, and activations of `ActivationBits` bits: 8 or 7. 8 bits give more precise
// results. 7 bits are for WebAssembly: its relaxed dot product adds two products in 16 bits on some x86 processors
// (vpmaddubsw of AVX2). With 8 bits, this sum may saturate and would be wrong. On such processors, the program that
// loads a module therefore reduces 8 bits to 7 (detail/vec/token_scale.hpp).
template <class Layout, int ActivationBits = 8>
using Int8 = typename Layout::template With<precision::Int8<ActivationBits>>;

// The layout `Layout` with rotated int8 weights. Results are more accurate than with Int8, and the run time is a few
// percent longer (docs/precision.md).
template <class Layout, int ActivationBits = 8>
using RotatedInt8 = typename Layout::template With<precision::Int8<ActivationBits, true>>;

}  // namespace layout
}  // namespace LADON_NAMESPACE
