// Tests a call in phases and shares (ladon/threads.hpp). For any number of shares, computed one after the other, the
// result must be bit-identical to the result of `run`.
#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "decoder_check.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"
#include "team.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::FinalNorm, ladon::Model, ladon::NormKind, ladon::NormOrder, ladon::Share;
namespace layout = ladon::layout;
namespace mask = ladon::mask;

// This number of shares exceeds the numbers of panels and heads of every shape below, so that some shares are empty. A
// shape has at most 70 queries or keys, and thus at most 70 panels.
constexpr std::size_t too_many = 71;
using Team = InTurn<too_many>;

// Checks that `parts`, which runs with Team, gives the bits of `whole` for several numbers of shares.
void check_same(const Subject& whole, const Subject& parts, const Task& task) {
  const Outcome expected = run_guarded(whole, task);
  for (const std::size_t shares : {std::size_t(1), std::size_t(2), std::size_t(5), too_many}) {
    CAPTURE(shares);
    Team::shares = shares;
    const Outcome actual = run_guarded(parts, task);
    CHECK(same_bits(actual.y, expected.y));
    for (std::size_t i = 0; i < expected.maps.size(); ++i) CHECK(same_bits(actual.maps[i], expected.maps[i]));
  }
}

// Checks self-attention if the shape has as many queries as keys. Otherwise, checks attention to a context.
template <S Shape, class Mask, class Layout = layout::InProj>
void check_attention_in_phases() {
  using Attention = ladon::MultiHeadAttention<Shape, Mask, Layout>;
  constexpr bool cross = !Attention::as_many_keys;
  const auto subject_of = []<class Block>() {
    return subject_of_attention<Block, Mask, Layout, ladon::score::Scaled, ladon::position::Unrotated,
                                Captures::weights, ladon::detail::vec::NativeVectors,
                                cross ? Calls::any : Calls::self>();
  };
  const Subject whole = subject_of.template operator()<Attention>(),
                parts = subject_of.template operator()<AttentionInPhases<Attention, Team>>();
  for (const Variation& variation : variations(whole)) {
    CAPTURE(to_string(whole, variation));
    check_same(whole, parts, task_of(whole, random_problem(whole.shape, cross, 5), variation));
  }
}

// Checks attention without projections. Its threads need no shared memory.
template <S Shape, class Mask>
void check_given_in_phases() {
  using Attention = ladon::Attention<Shape, Mask>;
  using Workspace = typename Attention::template TeamWorkspace<Team::size>;
  const Subject whole = given_subject<Shape, Mask>();
  Subject parts = whole;
  parts.workspace_bytes = parts.cross_workspace_bytes = sizeof(Workspace);
  parts.run = [](const Call& call) {
    auto& workspace = *static_cast<Workspace*>(call.workspace);
    run_capturing<Attention, Captures::weights>(call, [&](auto... where) {
      Team::drive(Attention::phases, [&](std::size_t phase, Share share) {
        spoil(workspace.scratch[share.index], poison());
        Attention::run(call.x, call.context, call.weights[0], call.y, workspace.part(phase, share),
                       options_of<Attention, Mask>(call), where...);
      });
    });
  };
  for (const Variation& variation : variations(whole)) {
    CAPTURE(to_string(whole, variation));
    check_same(whole, parts, task_of(whole, random_given(whole.shape, 5), variation));
  }
}

// Checks an encoder layer or a stack. `subject_of` returns the description of a kernel that the tests call (Subject in
// subject.hpp).
template <class Layer, class SubjectOf>
void check_in_phases(const EncoderForm& form, SubjectOf subject_of) {
  const Subject whole = subject_of.template operator()<Layer>(),
                parts = subject_of.template operator()<InPhases<Layer, Team>>();
  const EncoderProblem problem = random_encoder(whole.shape, form, 6);
  for (const Variation& variation : variations(whole)) {
    CAPTURE(to_string(whole, variation));
    check_same(whole, parts, task_of(whole, problem, variation));
  }
}
template <S Shape, Model Config, class Mask>
void check_layer_in_phases() {
  const auto subject_of = []<class Layer>() { return subject_of_layer<Layer, Mask>(); };
  check_in_phases<ladon::EncoderLayer<Config.with(Shape), Mask>>({.layer = Config}, subject_of);
}
template <std::size_t Layers, S Shape, Model Config, class Mask, FinalNorm Final>
void check_stack_in_phases() {
  const auto subject_of = []<class Encoder>() { return subject_of_encoder<Encoder, Mask>(); };
  check_in_phases<ladon::Encoder<stack_of(Config, Shape, Layers, Final), Mask>>(
      {.layers = Layers, .layer = Config, .final_norm = Final == FinalNorm::with}, subject_of);
}

// Checks a decoder layer or a stack, with all attention maps. The memory (the output of an encoder) must have at least
// as many tokens as the text, because all buffers for maps are as wide as the memory (decoder_check.hpp).
template <class Decoder, class SubjectOf>
void check_decoder_in_phases(const DecoderForm& form, SubjectOf subject_of) {
  const Subject whole = subject_of.template operator()<Decoder>(),
                parts = subject_of.template operator()<InPhases<Decoder, Team>>();
  const DecoderProblem problem = random_decoder(whole.shape, form, 6);
  const std::size_t tokens = whole.shape.queries, memory = whole.shape.keys;
  for (const Lengths& lengths :
       {Lengths{}, Lengths{.tokens = tokens * 2 / 3, .queries = tokens / 2, .keys = memory - 1},
        Lengths{.tokens = 1, .queries = 1, .keys = 1}}) {
    check_same(whole, parts, task_of(whole, problem, lengths, {}));
  }
}

// Returns whether `count` shares divide `parts` parts evenly. Each part must be in exactly one share, and the sizes of
// two shares may differ by at most one. If there are more shares than parts, the surplus shares must be empty.
constexpr bool shares_evenly(std::size_t parts, std::size_t count) {
  std::size_t next = 0, least = parts, most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ladon::Range range = Share{i, count}.of(parts);
    if (range.begin != next && range.begin != range.end) return false;
    const std::size_t size = range.end - range.begin;
    if (i >= parts && size != 0) return false;
    next += size;
    if (i < parts && size < least) least = size;
    if (size > most) most = size;
  }
  return next == parts && (parts == 0 || (least > 0 && most - least <= 1));
}
static_assert(shares_evenly(12, 1) && shares_evenly(12, 2) && shares_evenly(12, 5) && shares_evenly(12, 12));
static_assert(shares_evenly(12, 13) && shares_evenly(1, 70) && shares_evenly(0, 3) && shares_evenly(7, 3));

// Several cases use this shape, so they share most instantiations. Its last panel has few tokens.
constexpr S square{.queries = 34, .model = 9, .heads = 3};

constexpr S grouped{.queries = 3, .keys = 300, .model = 8, .heads = 4, .kv_heads = 2};
using Cross = ladon::MultiHeadAttention<grouped>;
using L = ladon::detail::ShapeLayout<Cross::shape, ladon::detail::vec::NativeVectors>;
static_assert(Cross::phases == 3);
static_assert(ladon::Attention<grouped>::phases == 1 && ladon::Attention<grouped>::parts(0) == 4);
static_assert(Cross::parts(0) == L::keys.panels(300) && Cross::parts(1) == 2 &&
              Cross::parts(2) == L::queries.panels(3));
using Stack = ladon::Encoder<ladon::Model{.layers = 2, .tokens = 3, .model = 6, .heads = 3, .feed_forward = 2}>;
using Decoder =
    ladon::Decoder<ladon::Model{.layers = 2, .tokens = 3, .memory = 300, .model = 6, .heads = 3, .feed_forward = 2}>;
using MemoryLayout = ladon::detail::ShapeLayout<Decoder::Layer::cross, ladon::detail::vec::NativeVectors>;
static_assert(Decoder::phases == 9 && Decoder::parts(0) == MemoryLayout::keys.panels(300) && Decoder::parts(3) == 3);
static_assert(sizeof(Decoder::TeamWorkspace<3>) == sizeof(Decoder::Workspace) + 2 * sizeof(Decoder::Scratch));
static_assert(Stack::phases == 5 && Stack::parts(1) == 3 && Stack::parts(3) == 3 && Stack::parts(4) == Stack::parts(2));

// The memory of several threads consists of one shared workspace, and a separate scratch for each thread.
static_assert(sizeof(Stack::TeamWorkspace<1>) == sizeof(Stack::Workspace));
static_assert(sizeof(Stack::TeamWorkspace<3>) == sizeof(Stack::Workspace) + 2 * sizeof(Stack::Scratch));

}  // namespace

TEST_CASE("self-attention: panels that are not full, causal and padding") {
  check_attention_in_phases<S{.queries = 69, .model = 15, .heads = 3}, CausalAndPadding>();
}
TEST_CASE("keys from a context, grouped heads, values of another width, separate weight tensors") {
  check_attention_in_phases<S{.queries = 17, .keys = 70, .model = 12, .heads = 6, .kv_heads = 3, .value_width = 5},
                            mask::Padding, layout::SeparateQKV>();
}
TEST_CASE("one query and many keys") {
  check_attention_in_phases<S{.queries = 1, .keys = 37, .model = 6, .heads = 2}, mask::Unmasked>();
}
#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("numbers for each distance") {
  check_attention_in_phases<S{.queries = 18, .model = 12, .heads = 3}, mask::Relative>();
}
#endif
TEST_CASE("given q, k, v: grouped heads, causal") {
  check_given_in_phases<S{.queries = 19, .keys = 40, .model = 1, .heads = 6, .kv_heads = 2, .head_width = 5},
                        mask::Causal>();
}
TEST_CASE("layer: post-LN, causal") { check_layer_in_phases<square, Model{.feed_forward = 20}, mask::Causal>(); }
TEST_CASE("layer: pre-LN, gated") {
  check_layer_in_phases<square,
                        Model{.feed_forward = 9, .activation = Activation::gelu, .norm = NormOrder::pre, .gated = true},
                        mask::Causal>();
}
#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("layer: norms of outputs, parallel sublayers") {
  check_layer_in_phases<square, Model{.feed_forward = 9, .norm = NormOrder::both, .layer_scale = true}, mask::Causal>();
  check_layer_in_phases<
      square, Model{.feed_forward = 9, .norm = NormOrder::pre, .residual = ladon::Residual::parallel_one_norm},
      mask::Causal>();
}
#endif
TEST_CASE("layer: a single token") {
  check_layer_in_phases<S{.queries = 1, .model = 6, .heads = 2}, Model{.feed_forward = 5, .norm = NormOrder::pre},
                        mask::Unmasked>();
}
TEST_CASE("stack: pre-LN with a final norm, padding") {
  check_stack_in_phases<3, S{.queries = 67, .model = 8, .heads = 2}, Model{.feed_forward = 16, .norm = NormOrder::pre},
                        mask::Padding, FinalNorm::with>();
}
#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("stack: post-LN, RMSNorm") {
  check_stack_in_phases<2, square, Model{.feed_forward = 7, .norm_kind = NormKind::rms}, mask::Causal,
                        FinalNorm::without>();
}
#endif
TEST_CASE("decoder layer: post-LN, a memory longer than the text, int8") {
  using Layout = layout::Int8<layout::InProj>;
  const auto subject_of = []<class Layer>() {
    return subject_of_decoder_layer<Layer, mask::Causal, mask::Padding, Layout>();
  };
  constexpr Model config{.feed_forward = 9};
  using Layer = ladon::DecoderLayer<decoder_of(config, S{.queries = 35, .model = 12, .heads = 4, .kv_heads = 2}, 69),
                                    ladon::DecoderMasks<mask::Causal, mask::Padding>, Layout>;
  check_decoder_in_phases<Layer>({.layer = config, .activation_bits = 8}, subject_of);
}
TEST_CASE("decoder stack: pre-LN with a final norm") {
  const auto subject_of = []<class Stacked>() { return subject_of_decoder<Stacked, mask::Causal, mask::Unmasked>(); };
  constexpr Model config{.feed_forward = 9, .norm = NormOrder::pre};
  using DecoderStack = ladon::Decoder<stack_of(config, square, 2, FinalNorm::with, 37), mask::Causal>;
  check_decoder_in_phases<DecoderStack>({.layers = 2, .layer = config, .final_norm = true}, subject_of);
}

}  // namespace ladon_test
