// SPDX-License-Identifier: Apache-2.0
// The types that a model (model.hpp) names: its mask, score, position encoding, layout, norms and linear maps.
#pragma once

#include <type_traits>

#include <ladon/model.hpp>

namespace LADON_NAMESPACE {

namespace detail {

// The combination of two masks, where None is neutral.
template <class A, class B>
using Join = std::conditional_t<std::is_same_v<A, mask::None>, B,
                                std::conditional_t<std::is_same_v<B, mask::None>, A, mask::Both<A, B>>>;
template <class Mask, bool Wanted, class Other>
using JoinIf = Join<Mask, std::conditional_t<Wanted, Other, mask::None>>;

template <MaskKind K>
struct MaskOfKind {
  static constexpr bool window = K.left != all || (K.right != all && !K.causal);
  using Causal = std::conditional_t<K.causal, mask::Causal, mask::None>;
  using Positions = std::conditional_t<window, mask::Window<K.left, K.causal ? 0 : K.right>, Causal>;
  using Bytes = JoinIf<JoinIf<Positions, K.padding, mask::Padding>, K.boolean, mask::Boolean>;
  using Pairs = JoinIf<JoinIf<Bytes, K.bits, mask::Bits>, K.additive, mask::Additive>;
  using Type = JoinIf<Pairs, K.alibi, mask::Alibi>;
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

template <Model M>
struct LayoutOfModel {
  static constexpr LayoutKind kind = M.layout;
  using Separate = std::conditional_t<kind == LayoutKind::separate_qkv, layout::SeparateQKV, layout::InProj>;
  using Textbook = std::conditional_t<kind == LayoutKind::per_head, layout::PerHead, layout::InOut>;
  static constexpr bool textbook = kind == LayoutKind::per_head || kind == LayoutKind::in_out;
  using Floats =
      typename std::conditional_t<textbook, Textbook, Separate>::template Biased<M.projection_bias, M.output_bias>;
  using Int8 = precision::Int8<M.activation_bits, M.precision == PrecisionKind::rotated_int8>;
  using Rounded = std::conditional_t<M.precision == PrecisionKind::bfloat16, precision::BFloat16, Int8>;
  using Type = typename Floats::template With<
      std::conditional_t<M.precision == PrecisionKind::float32, precision::Float32, Rounded>>;
};

template <Model M, class Masks>
struct SplitMasks : DecoderMasks<Masks, typename MaskOfKind<M.memory_mask>::Type> {};
template <Model M, class Self, class Memory>
struct SplitMasks<M, DecoderMasks<Self, Memory>> : DecoderMasks<Self, Memory> {};

}  // namespace detail

// The types that a model names, as MaskOf<M>::Type. They are the defaults of the template arguments after the model.
// Structs and not aliases, because g++ 12 stops with an internal error at aliases in such defaults.
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
  using Type = std::conditional_t<kind.positions == 0, position::None, Rotary>;
};
template <Model M>
struct LayoutOf : detail::LayoutOfModel<M> {};
template <Model M>
struct DecoderMasksOf {
  using Type = DecoderMasks<typename detail::MaskOfKind<detail::causal(M.mask)>::Type,
                            typename detail::MaskOfKind<M.memory_mask>::Type>;
};

// The type of a layer's norms and of a stack's final norm.
template <Model M>
struct NormOf {
  using Type = Norm<M.model, M.norm_kind, M.norm_bias>;
};

// The types of the linear maps of a feed-forward network. linear1 and the gate have the type First, and linear2 has the
// type Second.
template <Model M, class Layout>
struct FeedForwardLinears {
  using First = Linear<M.feed_forward, M.model, Layout::order, M.bias, typename Layout::Precision>;
  using Second = Linear<M.model, M.feed_forward, Layout::order, M.bias, typename Layout::Precision>;
};

}  // namespace LADON_NAMESPACE
