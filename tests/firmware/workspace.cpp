// Checks a formula for the size of the workspace of attention, in bytes:
//     4 (2 T D + T (d_k + d_v) + NR (d_k + block))
// The workspace holds tokens in panels: groups of NR tokens, side by side in memory. T is the number of tokens, rounded
// up to whole panels. D is the number of features. d_k and d_v are the widths of a head. Keys are processed in blocks
// of at most `block` keys. The terms are, in this order: x and the outputs of the heads, K and V of one head, and one
// panel of Q and of scores. An encoder layer also needs one panel for its norms and its feed-forward network. With
// pre-norm, the layer needs T D more floats.
#include <ladon/ladon.hpp>

namespace {

using ladon::Shape, ladon::detail::ShapeLayout, ladon::detail::vec::NativeVectors;

template <Shape Given>
constexpr std::size_t formula() {
  constexpr Shape s = Given.complete();
  using L = ShapeLayout<s, NativeVectors>;
  constexpr std::size_t width = L::queries.width(), tokens = L::queries.panels(s.queries) * width;
  return 4 * (2 * tokens * s.model + tokens * (s.head_width + s.value_width) + width * (s.head_width + L::block));
}

// Returns the largest possible sum of all gaps. Each part of the workspace begins at a multiple of 64 bytes, so a gap
// of at most 63 bytes precedes each part.
constexpr std::size_t gaps(std::size_t parts) { return parts * 63; }

template <Shape S>
constexpr bool attention_keeps_to_it() {
  const std::size_t bytes = sizeof(typename ladon::MultiHeadAttention<S, ladon::mask::Unmasked>::Workspace);
  return bytes <= formula<S>() + gaps(6) && bytes >= formula<S>();
}

template <Shape S, ladon::NormOrder Order>
constexpr bool layer_keeps_to_it() {
  constexpr ladon::Model config{.feed_forward = 4 * S.model, .norm = Order};
  using L = ShapeLayout<S.complete(), NativeVectors>;
  constexpr std::size_t width = L::queries.width(), tokens = L::queries.panels(S.queries) * width;
  constexpr std::size_t one_panel = 4 * width * (config.feed_forward + S.model);
  constexpr std::size_t before = Order == ladon::NormOrder::pre ? 4 * tokens * S.model : 0;
  return sizeof(typename ladon::EncoderLayer<config.with(S)>::Workspace) <= formula<S>() + before + one_panel + gaps(9);
}

template <Shape S>
constexpr bool keeps_to_it() {
  return attention_keeps_to_it<S>() && layer_keeps_to_it<S, ladon::NormOrder::post>() &&
         layer_keeps_to_it<S, ladon::NormOrder::pre>();
}

static_assert(keeps_to_it<Shape{.queries = 16, .model = 32, .heads = 4}>());
static_assert(keeps_to_it<Shape{.queries = 32, .model = 64, .heads = 4}>());
static_assert(keeps_to_it<Shape{.queries = 64, .model = 128, .heads = 4}>());
static_assert(keeps_to_it<Shape{.queries = 48, .model = 48, .heads = 4}>());
static_assert(keeps_to_it<Shape{.queries = 33, .model = 20, .heads = 2}>());
static_assert(keeps_to_it<Shape{.queries = 5, .model = 36, .heads = 3}>());
static_assert(keeps_to_it<Shape{.queries = 256, .model = 64, .heads = 8}>());
static_assert(keeps_to_it<Shape{.queries = 1000, .model = 64, .heads = 1}>());  // four blocks of keys

// Returns true if the size of the workspace is at most the result of a simpler formula. The simpler formula does not
// round T up to whole panels, and ignores the gaps that align the parts of the workspace. To make up for both, the
// formula adds one panel of `model` features, which is enough for the shapes of counts.cpp.
template <Shape Given>
constexpr bool within_design() {
  constexpr Shape s = Given.complete();
  using L = ShapeLayout<s, NativeVectors>;
  return sizeof(typename ladon::MultiHeadAttention<Given, ladon::mask::Unmasked>::Workspace) <=
         4 * (2 * s.queries * s.model + s.queries * (s.head_width + s.value_width) +
              L::queries.width() * (s.head_width + L::block + s.model));
}
static_assert(within_design<Shape{.queries = 16, .model = 32, .heads = 4}>());
static_assert(within_design<Shape{.queries = 32, .model = 64, .heads = 4}>());
static_assert(within_design<Shape{.queries = 64, .model = 128, .heads = 4}>());

}  // namespace
