// SPDX-License-Identifier: Apache-2.0
// The weights of attention and of layers: views of tensors, in the layouts that checkpoints use. The library reads the
// tensors in place, and converts at most a few rows of bfloat16 or int8 weights at a time on the stack.
//
// If the numbers of queries and keys are multiples of 16, all layouts of float32 weights give bit-identical results.
// Otherwise, sums may be added in a different order for each layout, because lanes without a token hold partial sums.
// Results of int8 weights never depend on the layout, because their integer sums are exact.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/checks.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/int4.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// The order of a weight matrix W in memory:
//     out_in   W is [Out][In], and y = x W^T + b, as in PyTorch
//     in_out   W is [In][Out], and y = x W + b, as in Keras and in textbooks
enum class Order { out_in, in_out };

// The precision of the weights of linear maps. Activations, biases and norms are float32.
//     Float32            weights are floats
//     BFloat16           weights are bfloat16. With AVX512_BF16 or FEAT_BF16 of Arm, products round their inputs to
//                        bfloat16. On other targets, products convert the weights exactly to floats
//     Int8<bits>         weights are 8-bit integers with one scale for each output. The input of a product is quantised
//                        to integers of `bits` bits when a call runs
//     Int8<bits, true>   like Int8<bits>, but blocks of eight weights and of eight inputs are first rotated
//                        (detail/panel/rows.hpp), which makes the error smaller. All scales are negative
//     Int4<bits>, Int4<bits, true>   like Int8, but with 4-bit weights (detail/vec/int4.hpp), which products expand to
//                        int8 weights. Some linear maps may keep int8 weights (Linear::int8_weight)
//
// With AVX512_BF16, BFloat16 and Int8 also round the operands of attention to bfloat16, except with a cache, a single
// query or a single key.
namespace precision {
struct Float32 {};
struct BFloat16 {};
template <int ActivationBits, bool Rotated = false, int WeightBits = 8>
struct Int8 {
  static_assert(ActivationBits == 7 || ActivationBits == 8, "ladon: activations have 7 or 8 bits");
  static_assert(WeightBits == 4 || WeightBits == 8, "ladon: integer weights have 4 or 8 bits");
  static constexpr bool rotated = Rotated;
  static constexpr int weight_bits = WeightBits;
};
template <int ActivationBits, bool Rotated = false>
using Int4 = Int8<ActivationBits, Rotated, 4>;

// is_int8 is also true for 4-bit weights.
template <class Precision>
inline constexpr bool is_int8 = false;
template <int Bits, bool Rotated, int WeightBits>
inline constexpr bool is_int8<Int8<Bits, Rotated, WeightBits>> = true;
template <class Precision>
inline constexpr bool is_int4 = false;
template <int Bits, bool Rotated>
inline constexpr bool is_int4<Int4<Bits, Rotated>> = true;
}  // namespace precision

// A linear map from x [In] to y [Out], with float or bfloat16 weights in the order `O`, and a bias [Out]. Element
// (out, in) of the weight has the index out * row_stride + in * stride.
template <std::size_t Out, std::size_t In, Order O = Order::out_in, Bias B = Bias::with,
          class Precision = precision::Float32>
struct Linear {
  static constexpr bool rounded = std::is_same_v<Precision, precision::BFloat16>;
  static_assert(!rounded || O == Order::out_in,
                "ladon: bfloat16 weights are (out, in): take layout::InProj or layout::SeparateQKV");
  static_assert(!rounded || !LADON_DETERMINISTIC,
                "ladon: layout::BFloat16 does not compile with LADON_DETERMINISTIC, because instructions for bfloat16 "
                "flush subnormals to zero");
  using Element = std::conditional_t<rounded, BFloat16, float>;
  static constexpr std::size_t row_stride = O == Order::out_in ? In : 1, stride = O == Order::out_in ? 1 : Out;
  using Rows = detail::WeightRows<detail::WeightMatrix<Element, row_stride, stride>,
                                  std::conditional_t<B == Bias::with, detail::BiasVector, detail::NoBias>>;
  MatrixView<const Element, O == Order::out_in ? Out : In, O == Order::out_in ? In : Out> weight;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<B == Bias::with, VectorView<const float, Out>, detail::NoBias> bias{};
  LADON_CALLER_MEMBER

  // The weights and biases of the outputs from number `first` on. A null pointer breaks a precondition (checks.hpp).
  constexpr Rows rows_from(std::size_t first) const noexcept {
    if constexpr (B == Bias::with) {
      LADON_EXPECTS(weight.data != nullptr && bias.data != nullptr, "ladon: a linear lacks its weight or its bias",
                    caller);
      // Without `opaque`, g++ computes both addresses in one vector register, after the multiply-adds of the previous
      // product. This costs 2% of the time (32 tokens of 64 features, 4 heads, bfloat16 weights; Zen 5).
      return {{detail::opaque(weight.data + first * row_stride)}, {detail::opaque(bias.data + first)}};
    } else {
      LADON_EXPECTS(weight.data != nullptr, "ladon: a linear lacks its weight", caller);
      return {{weight.data + first * row_stride}, {}};
    }
  }
};

// A linear map with integer weights: row r of the float matrix is about scale[r] * weight[r]. With 8 bits, `weight` is
// [Out][In]. With 4 bits, it has the rows of detail/vec/int4.hpp. `row_sum` holds the sum of each row. `quantise` and
// `row_sums` (quantise.hpp) compute the members. `weight` needs no alignment. If the precision is rotated, 8 * scale[r]
// * weight[r] approximates row r of the product of the float matrix and the rotation matrix.
//
// With 4 bits, `int8_weight` may point to int8 weights [Out][In]. They replace `weight` in linear maps that must be
// more accurate. A product of several tokens expands 4-bit rows to int8 rows on the stack, and copies rows of
// `int8_weight` there, too.
template <std::size_t Out, std::size_t In, Order O, Bias B, class Precision>
  requires(precision::is_int8<Precision>)
struct Linear<Out, In, O, B, Precision> {
  static_assert(
      O == Order::out_in,
      "ladon: int8 weights are (out, in): take layout::InProj or layout::SeparateQKV; ladon::quantise converts "
      "weights of any order");
  static_assert(In <= detail::most_int8_features, "ladon: an int8 linear has at most 65,536 inputs");
  static constexpr bool rotated = Precision::rotated;
  static_assert(!rotated || In % detail::rotated_block == 0,
                "ladon: the number of inputs of a rotated linear map is a multiple of 8");
  static constexpr std::size_t inputs = In;
  static constexpr int weight_bits = Precision::weight_bits;
  static constexpr std::size_t row_bytes = weight_bits == 8 ? In : int4_row_bytes(In);
  using Element = std::conditional_t<weight_bits == 8, std::int8_t, std::uint8_t>;
  struct NoInt8Weight {};
  using Matrix =
      std::conditional_t<weight_bits == 8, detail::WeightMatrix<Element, In, 1>, detail::Int4Matrix<row_bytes, In>>;
  using Rows = detail::IntegerRows<Matrix, std::conditional_t<B == Bias::with, detail::BiasVector, detail::NoBias>>;
  MatrixView<const Element, Out, row_bytes> weight;
  VectorView<const float, Out> scale;
  VectorView<const std::int32_t, Out> row_sum;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<B == Bias::with, VectorView<const float, Out>, detail::NoBias> bias{};
  LADON_NO_UNIQUE_ADDRESS
  std::conditional_t<weight_bits == 4, MatrixView<const std::int8_t, Out, In>, NoInt8Weight> int8_weight{};
  LADON_CALLER_MEMBER

  constexpr Rows rows_from(std::size_t first) const noexcept {
    LADON_EXPECTS(has_weight() && scale.data != nullptr && row_sum.data != nullptr,
                  "ladon: an int8 linear lacks its weight, its scale or its row_sum", caller);
    if constexpr (B == Bias::with) {
      LADON_EXPECTS(bias.data != nullptr, "ladon: an int8 linear lacks its bias", caller);
      return {matrix().rows_from(first), scale.data + first, row_sum.data + first, {bias.data + first}};
    } else {
      return {matrix().rows_from(first), scale.data + first, row_sum.data + first, {}};
    }
  }

 private:
  constexpr Matrix matrix() const noexcept {
    if constexpr (weight_bits == 4) {
      return {weight.data, int8_weight.data};
    } else {
      return {weight.data};
    }
  }
  constexpr bool has_weight() const noexcept {
    if constexpr (weight_bits == 4) {
      return weight.data != nullptr || int8_weight.data != nullptr;
    } else {
      return weight.data != nullptr;
    }
  }
};

// The kinds of norms of a vector x:
//     layer   (x - mean) / sqrt(variance + epsilon) * weight + bias   LayerNorm (arXiv 1607.06450)
//     rms     x / sqrt(mean of squares + epsilon) * weight            RMSNorm (arXiv 1910.07467)
//     same    the kind of the layer's other norms (Model::feed_forward_norm_kind)
enum class NormKind { layer, rms, same };

// The factor of a norm's features: the weight, or 1 + weight, as in Gemma and Nemotron.
enum class NormGain { weight, one_plus_weight };

// The weights of a norm. RMSNorm has no bias. LayerNorm without a bias equals LayerNorm with a bias of 0.
template <std::size_t Size, NormKind K = NormKind::layer, Bias B = Bias::with, NormGain G = NormGain::weight>
struct Norm {
  static_assert(K != NormKind::same, "ladon: NormKind::same is a value of Model::feed_forward_norm_kind only");
  static constexpr std::size_t size = Size;
  static constexpr NormKind kind = K;
  static constexpr NormGain gain = G;
  static constexpr bool biased = K == NormKind::layer && B == Bias::with;
  VectorView<const float, Size> weight;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<biased, VectorView<const float, Size>, detail::NoBias> bias{};
  float epsilon = 1e-5f;
  LADON_CALLER_MEMBER
};

// The norms of queries and keys before their scores (arXiv 2010.04245). HeadNorm is in shape.hpp.
struct QueryKeyNormKind {
  HeadNorm over = HeadNorm::none;
  NormKind kind = NormKind::rms;
  Bias bias = Bias::without;    // of a LayerNorm
  bool after_rotation = false;  // whether the rotary embedding comes before the norm
};

// A layout describes the tensors of the four projections of attention. Its argument `Tensors` has the order of a
// tensor's dimensions, and a template Weights<S, L>, which holds the tensors for shape S with the biases, precision and
// norms of layout L. Weights<S, L> has these members:
//     query(head), key(head), value(head), output()    the rows of a projection (detail/panel/rows.hpp)
//     heads_adjacent    whether the rows of head h + 1 directly follow the rows of head h in memory
//     query_norm, key_norm, query_key_norm    the norms of L::Norms, and their kind
namespace layout {

// The types of query_norm and key_norm. With HeadNorm::none, they are empty.
template <QueryKeyNormKind K, NormGain G = NormGain::weight>
struct QueryKeyNorms {
  static_assert(K.over != HeadNorm::all || !K.after_rotation,
                "ladon: a norm over all heads comes before the rotary embedding");
  static constexpr QueryKeyNormKind kind = K;
  template <std::size_t>
  struct NoNorm {};
  template <std::size_t HeadWidth, std::size_t Rows, std::size_t Number>
  using Over = std::conditional_t<K.over == HeadNorm::none, NoNorm<Number>,
                                  Norm<K.over == HeadNorm::head ? HeadWidth : Rows, K.kind, K.bias, G>>;
  template <Shape S>
  using Query = Over<S.head_width, S.query_rows(), 0>;
  template <Shape S>
  using Key = Over<S.head_width, S.key_rows(), 1>;
};

template <class Tensors, Bias Projections = Bias::with, Bias Output = Bias::with,
          class PrecisionGiven = precision::Float32, class NormsGiven = QueryKeyNorms<QueryKeyNormKind{}>>
struct Layout {
  using Precision = PrecisionGiven;
  using Norms = NormsGiven;
  static constexpr Order order = Tensors::order;
  static constexpr Bias projections = Projections;  // biases of the query, key and value projections
  static constexpr Bias output = Output;            // bias of the output projection
  template <Shape S>
  using Weights = typename Tensors::template Weights<S, Layout>;
  template <Shape S>
  using OutputLinear = Linear<S.model, S.concat_width(), order, Output, Precision>;
  // The same layout with other biases, or with another precision.
  template <Bias P, Bias O>
  using Biased = Layout<Tensors, P, O, Precision, Norms>;
  template <class Q>
  using With = Layout<Tensors, Projections, Output, Q, Norms>;
};

// in_proj holds the rows of queries, keys and values, in `Blocks` blocks with equal numbers of heads. A block has rows
// of queries, then of keys, then of values. With ValuesFirst, the values precede the keys.
template <Order O, std::size_t Blocks = 1, bool ValuesFirst = false>
struct PackedProjections {
  static constexpr Order order = O;
  template <Shape S, class L>
  struct Weights {
    static_assert(S.key_model == S.model && S.value_model == S.model,
                  "ladon: one in_proj takes queries, keys and values from tokens of one width; take SeparateQKV");
    static_assert(Blocks > 0 && S.heads % Blocks == 0 && S.kv_heads % Blocks == 0,
                  "ladon: projection_blocks must divide heads and kv_heads");
    static constexpr bool heads_adjacent = Blocks == 1, values_first = ValuesFirst;
    static constexpr std::size_t blocks = Blocks;
    static constexpr bool in_parts = Blocks == 1 && !ValuesFirst && O == Order::out_in;  // PyTorch's in_proj
    static constexpr std::size_t rows = S.query_rows() + S.key_rows() + S.value_rows();
    using Precision = typename L::Precision;
    Linear<rows, S.model, order, L::projections, Precision> in_proj;
    typename L::template OutputLinear<S> out_proj;
    static constexpr QueryKeyNormKind query_key_norm = L::Norms::kind;
    LADON_NO_UNIQUE_ADDRESS typename L::Norms::template Query<S> query_norm{};
    LADON_NO_UNIQUE_ADDRESS typename L::Norms::template Key<S> key_norm{};

    constexpr auto query(std::size_t head) const noexcept {
      return in_proj.rows_from(row(head, S.heads, S.head_width));
    }
    constexpr auto key(std::size_t head) const noexcept {
      return in_proj.rows_from(before_keys + row(head, S.kv_heads, S.head_width));
    }
    constexpr auto value(std::size_t head) const noexcept {
      return in_proj.rows_from(before_values + row(head, S.kv_heads, S.value_width));
    }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }

   private:
    // The rows of a block before its keys, and before its values.
    static constexpr std::size_t before_keys = (S.query_rows() + (ValuesFirst ? S.value_rows() : 0)) / Blocks;
    static constexpr std::size_t before_values = (S.query_rows() + (ValuesFirst ? 0 : S.key_rows())) / Blocks;
    // Returns the first row of a head, if the projection has `heads` heads with `width` rows each.
    static LADON_INLINE constexpr std::size_t row(std::size_t head, std::size_t heads, std::size_t width) noexcept {
      if constexpr (Blocks == 1) return head * width;
      const std::size_t of_block = heads / Blocks;
      return head / of_block * (rows / Blocks) + head % of_block * width;
    }
  };
};
using PackedInProj = PackedProjections<Order::out_in>;

// PyTorch's MultiheadAttention.
using InProj = Layout<PackedInProj>;
// GPT-2's Conv1D: (in, out).
using InProjInOut = Layout<PackedProjections<Order::in_out>>;

// One tensor for each projection, with the rows of all heads.
template <Order O>
struct PerProjection {
  static constexpr Order order = O;
  template <Shape S, class L>
  struct Weights {
    static constexpr bool heads_adjacent = true;
    using Precision = typename L::Precision;
    Linear<S.query_rows(), S.model, O, L::projections, Precision> query_proj;
    Linear<S.key_rows(), S.key_model, O, L::projections, Precision> key_proj;
    Linear<S.value_rows(), S.value_model, O, L::projections, Precision> value_proj;
    typename L::template OutputLinear<S> out_proj;
    static constexpr QueryKeyNormKind query_key_norm = L::Norms::kind;
    LADON_NO_UNIQUE_ADDRESS typename L::Norms::template Query<S> query_norm{};
    LADON_NO_UNIQUE_ADDRESS typename L::Norms::template Key<S> key_norm{};

    constexpr auto query(std::size_t head) const noexcept { return query_proj.rows_from(head * S.head_width); }
    constexpr auto key(std::size_t head) const noexcept { return key_proj.rows_from(head * S.head_width); }
    constexpr auto value(std::size_t head) const noexcept { return value_proj.rows_from(head * S.value_width); }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};

// Hugging Face's BERT, and PyTorch's MultiheadAttention with kdim or vdim. In PyTorch, the biases of query_proj,
// key_proj and value_proj are parts of one tensor, in_proj_bias.
using SeparateQKV = Layout<PerProjection<Order::out_in>>;

// Keras: (model, heads, width) for queries, keys and values, and (heads, width, model) for the output.
using InOut = Layout<PerProjection<Order::in_out>>;

// Textbooks: each head has separate matrices [in][out]. One matrix Wo [in][out] multiplies the concatenated heads.
struct MatrixPerHead {
  static constexpr Order order = Order::in_out;
  template <Shape S, class L>
  struct Weights {
    static constexpr bool heads_adjacent = false;
    using Precision = typename L::Precision;
    std::array<Linear<S.head_width, S.model, order, L::projections, Precision>, S.heads> query_proj;
    std::array<Linear<S.head_width, S.key_model, order, L::projections, Precision>, S.kv_heads> key_proj;
    std::array<Linear<S.value_width, S.value_model, order, L::projections, Precision>, S.kv_heads> value_proj;
    typename L::template OutputLinear<S> out_proj;
    static constexpr QueryKeyNormKind query_key_norm = L::Norms::kind;
    LADON_NO_UNIQUE_ADDRESS typename L::Norms::template Query<S> query_norm{};
    LADON_NO_UNIQUE_ADDRESS typename L::Norms::template Key<S> key_norm{};

    constexpr auto query(std::size_t head) const noexcept { return query_proj[head].rows_from(0); }
    constexpr auto key(std::size_t head) const noexcept { return key_proj[head].rows_from(0); }
    constexpr auto value(std::size_t head) const noexcept { return value_proj[head].rows_from(0); }
    constexpr auto output() const noexcept { return out_proj.rows_from(0); }
  };
};
using PerHead = Layout<MatrixPerHead>;

// Layouts without biases: of all projections (T5, Llama), of the output projection (Qwen2), or of the query, key and
// value projections (Keyword Transformer, arXiv 2104.00769).
template <class Layout>
using WithoutBias = typename Layout::template Biased<Bias::without, Bias::without>;
template <class Layout>
using WithoutOutputBias = typename Layout::template Biased<Layout::projections, Bias::without>;
template <class Layout>
using WithoutProjectionBias = typename Layout::template Biased<Bias::without, Layout::output>;

// Layouts with bfloat16, int8 or 4-bit weights. ActivationBits is 8 or 7. 8 bits are more precise. 7 bits are faster on
// x86 without VNNI. In WebAssembly, the relaxed dot product of some x86 processors may saturate with 8 bits
// (detail/vec/token_scale.hpp). Rotated weights are more accurate and a few percent slower (docs/precision.md).
template <class Layout>
using BFloat16 = typename Layout::template With<precision::BFloat16>;
template <class Layout, int ActivationBits = 8>
using Int8 = typename Layout::template With<precision::Int8<ActivationBits>>;
template <class Layout, int ActivationBits = 8>
using RotatedInt8 = typename Layout::template With<precision::Int8<ActivationBits, true>>;
template <class Layout, int ActivationBits = 8>
using Int4 = typename Layout::template With<precision::Int4<ActivationBits>>;
template <class Layout, int ActivationBits = 8>
using RotatedInt4 = typename Layout::template With<precision::Int4<ActivationBits, true>>;

}  // namespace layout
}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
