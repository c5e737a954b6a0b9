// SPDX-License-Identifier: Apache-2.0
// The types that a model (model.hpp) names, such as its mask and its norms.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/mask/additive.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE {

namespace detail {

// A struct, because with an alias of conditional types, each mask of MaskOfKind tripled the types that g++ stored.
template <class Mask, bool Wanted, class Other>
struct JoinIf {
  using Type = Mask;
};
template <class Mask, class Other>
struct JoinIf<Mask, true, Other> {
  using Type = mask::Both<Mask, Other>;
};
template <class Other>
struct JoinIf<mask::Unmasked, true, Other> {
  using Type = Other;
};

template <MaskKind K>
struct MaskOfKind {
  static constexpr bool window = K.left != all || (K.right != all && !K.causal);
  static constexpr bool placed = K.offset != mask::default_offset;
  static constexpr std::size_t right = K.causal ? 0 : K.right;
  using Causal = std::conditional_t<placed, mask::CausalAt<K.offset>, mask::Causal>;
  using Window = std::conditional_t<placed, mask::WindowAt<K.left, right, K.offset>, mask::Window<K.left, right>>;
  using Windowed = typename JoinIf<mask::Unmasked, window, Window>::Type;
  using Positions = typename JoinIf<Windowed, K.causal && !window, Causal>::Type;
  using Padded = typename JoinIf<Positions, K.padding, mask::Padding>::Type;
  using Bytes = typename JoinIf<Padded, K.boolean, mask::Boolean>::Type;
  using BytesPerHead = typename JoinIf<Bytes, K.boolean_per_head, mask::BooleanPerHead>::Type;
  using Bits = typename JoinIf<BytesPerHead, K.bits, mask::Bits>::Type;
  using Added = typename JoinIf<Bits, K.additive, mask::Additive>::Type;
  using AddedPerHead = typename JoinIf<Added, K.additive_per_head, mask::AdditivePerHead>::Type;
  using Falling = typename JoinIf<AddedPerHead, K.alibi, mask::Alibi>::Type;
  using Type = typename JoinIf<Falling, K.relative, mask::Relative>::Type;
};

constexpr MaskKind causal(MaskKind kind) noexcept {
  kind.causal = true;
  return kind;
}

template <ScoreKind K>
struct ScoreOfKind : score::Scaled {
  using Base = std::conditional_t<K.by == Scale::keys, score::ScaledByKeys,
                                  std::conditional_t<K.by == Scale::model, score::ScaledByModel, score::Scaled>>;
  static constexpr float scale(const Shape& shape) noexcept { return K.scale != 0 ? K.scale : Base::scale(shape); }
  static constexpr float softcap = K.softcap;
  static constexpr bool sinks = K.sinks;
};

constexpr bool is_rotated(PrecisionKind kind) noexcept {
  return kind == PrecisionKind::rotated_int8 || kind == PrecisionKind::rotated_int4;
}
constexpr bool has_4_bits(PrecisionKind kind) noexcept {
  return kind == PrecisionKind::int4 || kind == PrecisionKind::rotated_int4;
}

template <Model M, class Masks>
struct SplitMasks : DecoderMasks<Masks, typename MaskOfKind<M.memory_mask>::Type> {};
template <Model M, class Self, class Memory>
struct SplitMasks<M, DecoderMasks<Self, Memory>> : DecoderMasks<Self, Memory> {};

}  // namespace detail

// The types that a model names, such as MaskOf<M>::Type, are defaults of the template arguments after the model. They
// are members of structs, because g++ 12 stops with an internal error at aliases in such defaults.
template <Model M>
struct MaskOf : detail::MaskOfKind<M.mask> {};
template <Model M>
struct ScoreOf {
  using Type = std::conditional_t<M.score == ScoreKind{}, score::Scaled, detail::ScoreOfKind<M.score>>;
};
template <Model M>
struct PositionOf {
  static constexpr PositionKind kind = M.position;
  using Rotary = position::Rotary<kind.pairing, kind.width, kind.positions>;
  using Type = std::conditional_t<kind.positions == 0, position::Unrotated, Rotary>;
};
template <PrecisionKind K, int ActivationBits>
struct PrecisionOf {
  using Int8 = precision::Int8<ActivationBits, detail::is_rotated(K), detail::has_4_bits(K) ? 4 : 8>;
  using Rounded = std::conditional_t<K == PrecisionKind::bfloat16, precision::BFloat16, Int8>;
  using Type = std::conditional_t<K == PrecisionKind::float32, precision::Float32, Rounded>;
};
template <Model M>
struct LayoutOf {
  static constexpr bool packed = M.layout == LayoutKind::in_proj || M.layout == LayoutKind::in_proj_in_out;
  static constexpr bool fits = packed || (M.projection_blocks == 1 && !M.values_before_keys);
  static_assert(fits, "ladon: projection_blocks and values_before_keys describe an in_proj, which this layout lacks");
  static constexpr bool turned = M.layout == LayoutKind::in_out || M.layout == LayoutKind::in_proj_in_out;
  static constexpr Order order = turned ? Order::in_out : Order::out_in;
  using Separate =
      std::conditional_t<M.layout == LayoutKind::per_head, layout::MatrixPerHead, layout::PerProjection<order>>;
  using Packed = layout::PackedProjections<order, M.projection_blocks, M.values_before_keys>;
  using Tensors = std::conditional_t<packed, Packed, Separate>;
  using Precision = typename PrecisionOf<M.precision, M.activation_bits>::Type;
  using Type = layout::Layout<Tensors, M.projection_bias, M.output_bias, Precision,
                              layout::QueryKeyNorms<M.query_key_norm, M.norm_gain>>;
};
template <Model M>
struct DecoderMasksOf {
  using Type = DecoderMasks<typename detail::MaskOfKind<detail::causal(M.mask)>::Type,
                            typename detail::MaskOfKind<M.memory_mask>::Type>;
};

// Type: all norms but that of the feed-forward network, FeedForward.
template <Model M>
struct NormOf {
  template <NormKind K>
  using Kind = Norm<M.model, K, M.norm_bias, M.norm_gain>;
  using Type = Kind<M.norm_kind>;
  using FeedForward = Kind<M.feed_forward_norm_kind == NormKind::same ? M.norm_kind : M.feed_forward_norm_kind>;
};

// The weights that only some layers have. Absent members have different empty types, so that they share an address.
template <Model M>
struct OptionalParts {
  template <int>
  struct Absent {};
  template <bool Exists, class Part, int Number>
  using If = std::conditional_t<Exists, Part, Absent<Number>>;
  static constexpr bool both = M.norm == NormOrder::both;
  using Norm2 = If<M.residual != Residual::parallel_one_norm, typename NormOf<M>::FeedForward, 0>;
  using OutputNorm1 = If<both, typename NormOf<M>::Type, 1>;
  using OutputNorm2 = If<both, typename NormOf<M>::FeedForward, 2>;
  using OutputNormOfMemory = If<both, typename NormOf<M>::Type, 7>;
  using Scale1 = If<M.layer_scale, VectorView<const float, M.model>, 3>;
  using Scale2 = If<M.layer_scale, VectorView<const float, M.model>, 4>;
  using Activation = If<M.activation == ladon::Activation::xielu, VectorView<const float, 2>, 5>;
  static constexpr Shape shape = M.shape();
  using AttentionBias = If<M.layer_bias, TensorView<const float, shape.heads, shape.queries, shape.keys>, 6>;
};

// The types of linear1, linear2 and the gate.
template <Model M, class Layout>
struct FeedForwardLinears {
  using First = Linear<M.feed_forward, M.model, Layout::order, M.bias, typename Layout::Precision>;
  using Second = Linear<M.model, M.feed_forward, Layout::order, M.bias, typename Layout::Precision>;
  struct NoGate {};
  using Gate = std::conditional_t<M.gated, First, NoGate>;
};

// A kind of layers changes only options: a window is a member of the bound mask, and a rotary table may be null. So one
// instantiation computes all layers of a stack.
namespace detail {

// A copy of the model. clang++ 14 and 19 read the arrays of a template argument wrongly, except in constant evaluation.
template <Model M>
inline constexpr Model value_of = M;

// The rotary embedding of a layer. A layer with a null table does not rotate.
template <class Rotary>
struct OptionalRotary : Rotary {
  static constexpr bool optional = true;
};
template <class Rotary, std::size_t Kinds>
struct RotaryOfKinds : Rotary {
  struct Data {
    const typename Rotary::Table* table[Kinds]{};
    std::size_t offset = 0;
    LADON_CALLER_MEMBER
  };
};

// The position encoding of a layer, and of the options of a stack. `Mask` is the mask of self-attention.
template <Model M, class Mask, class Position>
struct PositionOfKinds {
  static constexpr bool has_one_window = M.kinds.count == 0 || mask::keys_before_query<Mask> == all;
  static_assert(has_one_window, "ladon: a model with kinds of layers has its windows in the kinds, not in the mask");
  static constexpr bool has_all_kinds = value_of<M>.has_all_kinds();
  static_assert(has_all_kinds, "ladon: Model::kind_of_layer has a number to which Model::kinds has no kind");
  static constexpr bool varies = M.kinds.count > 0 && Position::rotates;
  using OfLayer = std::conditional_t<varies, OptionalRotary<Position>, Position>;
  using OfStack = std::conditional_t<varies, RotaryOfKinds<Position, M.kinds.count>, Position>;
};

// The options of one layer of a stack. The member `position` hides Options::position.
template <class Options, class Position, std::size_t RingWindow>
struct OptionsOfKind : Options {
  static constexpr std::size_t ring_window = RingWindow;
  typename Position::Data position;
  std::size_t window;

  constexpr auto bind_to(Lengths lengths, std::ptrdiff_t offset = Options::bottom_right()) const noexcept {
    const std::ptrdiff_t own = mask::resolve_offset({lengths, offset}, mask::default_offset);
    // Hides keys more than `distance` tokens away. No key is 2^26 tokens away, so a window of 0 hides no key.
    constexpr std::size_t widest = 1 << 26;
    const auto distance = static_cast<std::ptrdiff_t>(window == 0 || window > widest ? widest : window);
    const mask::BoundWindow<true, true> in_window(lengths.keys, own - distance, own + distance);
    return mask::BoundBoth{in_window, Options::bind_to(lengths, offset)};
  }
};

// The options of a layer with Model::layer_bias: the mask also adds attention_bias to the scores.
template <Shape S, class Options>
struct OptionsWithBias : Options {
  const float* attention_bias;

  constexpr auto bind_to(Lengths lengths, std::ptrdiff_t offset = Options::bottom_right()) const noexcept {
    LADON_EXPECTS(attention_bias != nullptr, "ladon: a layer lacks its attention_bias", caller_of(*this));
    return mask::BoundBoth{Options::bind_to(lengths, offset),
                           mask::BoundAdditive<true>{attention_bias, S.queries, S.keys, lengths.keys}};
  }
};

// Returns the options of layer number `layer` of a stack. If all layers are equal, returns `options` itself.
template <Model M, class Position, class Options>
LADON_INLINE constexpr decltype(auto) options_of_kind(const Options& options,
                                                      [[maybe_unused]] std::size_t layer) noexcept {
  if constexpr (M.kinds.count == 0) {
    return (options);
  } else {
    const std::size_t number = value_of<M>.kind_number(layer);
    const LayerKind kind = value_of<M>.kinds.items[number];
    OptionsOfKind<Options, Position, value_of<M>.window_of_kinds()> own{options, {}, kind.window};
    if constexpr (Position::rotates) {
      LADON_EXPECTS(kind.unrotated || options.position.table[number] != nullptr,
                    "ladon: a kind of layers lacks its rotary table: options.position.table[kind]",
                    caller_of(options.position), {{"kind", number}});
      if (!kind.unrotated) own.position.table = options.position.table[number];
      own.position.offset = options.position.offset;
    }
    return own;
  }
}

}  // namespace detail

}  // namespace LADON_NAMESPACE
