// Tests the norms of queries and keys (Model::query_key_norm) against the oracle, in calls for a whole text, with
// caches, and in phases.
#include <vector>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "cached_check.hpp"
#include "decoder_check.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"
#include "team.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Bias, ladon::HeadNorm, ladon::Model, ladon::NormKind, ladon::PrecisionKind, ladon::QueryKeyNormKind;
using ladon::mask::Causal, ladon::mask::Unmasked, ladon::score::Scaled;
namespace layout = ladon::layout;

template <QueryKeyNormKind K, Model M = Model{}>
using Normed = typename ladon::LayoutOf<[] {
  Model model = M;
  model.query_key_norm = K;
  return model;
}()>::Type;

constexpr S shape{.queries = 18, .model = 48, .heads = 6, .kv_heads = 3}, five{.queries = 5, .model = 20, .heads = 2};
constexpr S values_of_another_width{
    .queries = 18, .keys = 21, .model = 15, .heads = 4, .kv_heads = 2, .head_width = 6, .value_width = 7};
using Rotary = RotaryOf<ladon::Pairing::halves, 6, 50>;
constexpr QueryKeyNormKind head{HeadNorm::head}, all{HeadNorm::all}, each{HeadNorm::each_head, NormKind::layer};
constexpr QueryKeyNormKind biased{HeadNorm::head, NormKind::layer, Bias::with},
    after{.over = HeadNorm::head, .after_rotation = true};
constexpr QueryKeyNormKind all_layer{HeadNorm::all, NormKind::layer, Bias::with};
constexpr QueryKeyNormKind each_after{HeadNorm::each_head, NormKind::layer, Bias::with, true};

template <S Sizes, class Mask, class Layout, class Position = Rotary>
void check() {
  check_self(
      self_subject<Sizes, Mask, Layout, ladon::detail::vec::NativeVectors, Scaled, Position, captures_of_wide_set>());
}

}  // namespace

TEST_CASE("norms of queries and keys: over a head, over each head, over all heads") {
  check<shape, Causal, Normed<head>>();
  check<shape, Causal, Normed<each>>();
  check<shape, Causal, Normed<all>>();
  check<five, Unmasked, Normed<biased>>();
  check<five, Unmasked, Normed<all_layer>>();
}

#if !defined(LADON_TEST_SET_QUICK)
namespace {

template <S Sizes, class Layout, class Position = Rotary>
void check_text() {
  const CachedSubject subject = cached_subject<Sizes, Causal, Scaled, Position, Layout, maps_of_wide_set>();
  check_cached(subject, {{{5, 1, 1, 11}}, {std::vector<std::size_t>(9, 1)}, {{3, 1, 9}, false}});
}
constexpr S text(ladon::CachePrecision precision = ladon::CachePrecision::float32) {
  S sizes = shape;
  sizes.keys = 40;
  sizes.cache_precision = precision;
  return sizes;
}

}  // namespace

TEST_CASE("norms of queries and keys: after the rotary embedding, a single query") {
  check<shape, Causal, Normed<after>>();
  check<shape, Unmasked, Normed<each_after>>();
  constexpr S one{.queries = 1, .keys = 13, .model = 48, .heads = 6, .kv_heads = 3};
  check_cross(
      attention_subject<one, Unmasked, Normed<each_after>, ladon::detail::vec::NativeVectors, Scaled, Rotary>());
  check_cross(attention_subject<one, Unmasked, Normed<all>, ladon::detail::vec::NativeVectors, Scaled, Rotary>());
}

TEST_CASE("norms of queries and keys: keys from a context, values of another width, other layouts") {
  using ladon::LayoutKind;
  check_cross(attention_subject<values_of_another_width, Causal, Normed<all>>());
#if defined(LADON_TEST_WIDE)
  check_cross(attention_subject<values_of_another_width, Causal, Normed<each>>());
#endif
  check<shape, Causal, Normed<all, Model{.layout = LayoutKind::per_head}>>();
  check<shape, Causal, Normed<head, Model{.projection_blocks = 3}>>();
#if defined(LADON_TEST_WIDE)
  check_cross(projected_subject<values_of_another_width, Causal, Normed<all>>());
#endif
  check_cross(projected_subject<values_of_another_width, Causal, Normed<each>>());
}

TEST_CASE("norms of queries and keys: int8 and bfloat16 weights") {
  check<shape, Causal, Normed<head, Model{.precision = PrecisionKind::int8}>>();
  check<shape, Causal, Normed<all, Model{.precision = PrecisionKind::int8}>>();
#if !LADON_DETERMINISTIC
  check<shape, Causal, Normed<head, Model{.precision = PrecisionKind::bfloat16}>>();
  check<shape, Causal, Normed<all, Model{.precision = PrecisionKind::bfloat16}>>();
#endif
}

TEST_CASE("norms of queries and keys: a text that grows, caches of each precision") {
  using ladon::CachePrecision;
  check_text<text(), Normed<head>>();
  check_text<text(), Normed<all>>();
  check_text<text(), Normed<each_after, Model{.layout = ladon::LayoutKind::separate_qkv}>>();
#if defined(LADON_TEST_WIDE)
  check_text<text(CachePrecision::bfloat16), Normed<all>>();
  check_text<text(), Normed<biased, Model{.precision = PrecisionKind::int8}>>();
#endif
  check_text<text(CachePrecision::int8), Normed<head>>();
  check_text<text(), Normed<all, Model{.precision = PrecisionKind::int8}>>();
}

TEST_CASE("norms of queries and keys: an encoder layer, pre-LN and post-LN, 1 + weight, another epsilon") {
  constexpr Model pre{.feed_forward = 20, .norm = ladon::NormOrder::pre, .query_key_norm = head};
  constexpr Model post{.feed_forward = 20, .norm_gain = ladon::NormGain::one_plus_weight, .query_key_norm = all};
  check_encoder(layer_without_maps<shape, pre, Causal, Normed<head>>(), {.layer = pre, .epsilon = 0.5f});
  check_encoder(layer_without_maps<shape, post, Causal, Normed<all, post>>(), {.layer = post, .epsilon = 0.5f});
}

TEST_CASE("norms of queries and keys: a decoder with a memory") {
  constexpr Model model{.feed_forward = 20, .query_key_norm = each};
  check_decoder(decoder_layer_subject<five, 7, model, Causal, Unmasked, Normed<each>, maps_of_wide_set>(),
                {.layer = model, .self_causal = true, .epsilon = 0.5f});
}

template <QueryKeyNormKind K>
constexpr Model two_layers{.layers = 2,
                           .tokens = 18,
                           .model = 48,
                           .heads = 6,
                           .kv_heads = 3,
                           .feed_forward = 20,
                           .mask = {.causal = true},
                           .query_key_norm = K};
// A text of 18 tokens goes through two layers at once, in three shares, in pieces, and token by token.
template <QueryKeyNormKind K>
void check_stack() {
  using Stack = ladon::Encoder<two_layers<K>>;
  using Pieces = ladon::Encoder<two_layers<K>.with(text())>;
  using One = ladon::Encoder<two_layers<K>.with(for_one(text()))>;
  EncoderProblem problem = random_encoder(Stack::shape, {.layers = 2, .layer = two_layers<K>}, 3);
  std::vector<Floats> tensors;
  for (const auto& layer : problem.layers) append_tensors(tensors, WeightLayout::in_proj, Stack::shape, layer);
  std::vector<const float*> pointers;
  for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
  const float* const* next = pointers.data();
  typename Stack::Weights weights;
  for (auto& layer : weights.layers) point(layer, next);

  Subject subject = subject_of_encoder<Stack, Causal>();
  subject.norms = K;
  const Expected expected = expected_encoder(subject, problem, {}).y;
  const auto agrees = [&](const Floats& y) { CHECK(worst_distance(y, expected) <= 1); };
  Floats y(Stack::Output::size, poison());
  static typename Stack::template TeamWorkspace<3> team;
  InTurn<3>::drive(Stack::phases, [&](std::size_t phase, ladon::Share share) {
    spoil(team.scratch[share.index], poison());
    Stack::run(problem.x.data(), weights, y.data(), team.part(phase, share));
  });
  agrees(y);
  static typename Pieces::Caches caches;
  static typename Pieces::CachedWorkspace workspace;
  static typename One::CachedWorkspace small_workspace;
  const auto feed = [&]<class Layers>(const std::vector<std::size_t>& cut, auto& memory) {
    for (auto& cache : caches) cache.clear();
    std::size_t past = 0;
    for (const std::size_t tokens : cut) {
      spoil(memory, poison());
      Layers::extend(problem.x.data() + past * shape.model, caches, weights, y.data() + past * shape.model, memory,
                     {.tokens = tokens});
      past += tokens;
    }
    agrees(y);
  };
  feed.template operator()<Pieces>({5, 1, 12}, workspace);
  feed.template operator()<One>(std::vector<std::size_t>(18, 1), small_workspace);
}
TEST_CASE("norms of queries and keys: a stack, in shares, in pieces and token by token") {
#if defined(LADON_TEST_WIDE)
  check_stack<head>();
#endif
  check_stack<all>();
}

TEST_CASE("norms of queries and keys: the shares of several threads give the same bits") {
  constexpr std::size_t shares = 7;
  const auto same = []<class Layout, S Sizes>() {
    using Attention = ladon::MultiHeadAttention<Sizes, Causal, Layout>;
    const Subject whole = subject_of_attention<Attention, Causal, Layout>();
    const Subject parts = subject_of_attention<AttentionInPhases<Attention, InTurn<shares>>, Causal, Layout>();
    const bool cross = !Attention::as_many_keys;
    const Task task = task_of(whole, random_problem(whole, cross, 5), {});
    CHECK(same_bits(run_guarded(parts, task).y, run_guarded(whole, task).y));
  };
#if defined(LADON_TEST_WIDE)
  same.operator()<Normed<head>, shape>();
#endif
  same.operator()<Normed<all>, shape>();
  same.operator()<Normed<all>, values_of_another_width>();
}
#endif

}  // namespace ladon_test
