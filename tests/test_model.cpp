// Tests the types that a model names (ladon/model.hpp), and that equal descriptions give equal types.
#include <type_traits>

#include <ladon/ladon.hpp>

namespace {

using ladon::Model, ladon::mask::Causal, ladon::mask::Unmasked, ladon::mask::Padding, ladon::mask::Window;
namespace layout = ladon::layout;

static_assert(std::is_same_v<ladon::MaskOf<Model{}>::Type, Unmasked>);
static_assert(std::is_same_v<ladon::MaskOf<Model{.mask = {.causal = true}}>::Type, Causal>);
static_assert(std::is_same_v<ladon::MaskOf<Model{.mask = {.causal = true, .left = 5}}>::Type, Window<5>>);
static_assert(std::is_same_v<ladon::MaskOf<Model{.mask = {.left = 5, .right = 3}}>::Type, Window<5, 3>>);
static_assert(std::is_same_v<ladon::MaskOf<Model{.mask = {.right = 3}}>::Type, Window<ladon::all, 3>>);
static_assert(
    std::is_same_v<ladon::MaskOf<Model{.mask = {.causal = true, .offset = 2}}>::Type, ladon::mask::CausalAt<2>>);
static_assert(std::is_same_v<ladon::MaskOf<Model{.mask = {.left = 5, .offset = -1}}>::Type,
                             ladon::mask::WindowAt<5, ladon::all, -1>>);
static_assert(std::is_same_v<ladon::MaskOf<Model{.mask = {.boolean_per_head = true, .additive_per_head = true}}>::Type,
                             ladon::mask::Both<ladon::mask::BooleanPerHead, ladon::mask::AdditivePerHead>>);
static_assert(std::is_same_v<ladon::MaskOf<Model{.mask = {.causal = true, .padding = true}}>::Type,
                             decltype(Causal{} & Padding{})>);
static_assert(std::is_same_v<ladon::MaskOf<Model{.mask = {.padding = true, .additive = true}}>::Type,
                             ladon::mask::Both<Padding, ladon::mask::Additive>>);

static_assert(std::is_same_v<ladon::ScoreOf<Model{}>::Type, ladon::score::Scaled>);
using Score = ladon::ScoreOf<Model{.score = {.scale = 0.5f, .softcap = 30, .sinks = true}}>::Type;
static_assert(Score::scale({}) == 0.5f && Score::softcap == 30 && Score::sinks);
static_assert(ladon::ScoreOf<Model{.score = {.by = ladon::Scale::keys}}>::Type::scale({.keys = 4}) == 0.5f);

static_assert(std::is_same_v<ladon::PositionOf<Model{}>::Type, ladon::position::Unrotated>);
static_assert(std::is_same_v<ladon::PositionOf<Model{.position = {ladon::Pairing::halves, 4, 9}}>::Type,
                             ladon::position::Rotary<ladon::Pairing::halves, 4, 9>>);

static_assert(std::is_same_v<ladon::LayoutOf<Model{}>::Type, layout::InProj>);
static_assert(std::is_same_v<ladon::LayoutOf<Model{.layout = ladon::LayoutKind::in_out}>::Type, layout::InOut>);
static_assert(
    std::is_same_v<ladon::LayoutOf<Model{.layout = ladon::LayoutKind::in_proj_in_out}>::Type, layout::InProjInOut>);
static_assert(std::is_same_v<ladon::LayoutOf<Model{.projection_blocks = 2, .values_before_keys = true}>::Type,
                             layout::Layout<layout::PackedProjections<ladon::Order::out_in, 2, true>>>);
static_assert(std::is_same_v<ladon::LayoutOf<Model{.output_bias = ladon::Bias::without}>::Type,
                             layout::WithoutOutputBias<layout::InProj>>);
static_assert(
    std::is_same_v<ladon::LayoutOf<Model{.precision = ladon::PrecisionKind::rotated_int8, .activation_bits = 7}>::Type,
                   layout::RotatedInt8<layout::InProj, 7>>);

// A shape is a model, and a model with other lengths has the same weights and caches.
constexpr Model prompt{.tokens = 8, .keys = 20, .model = 6, .heads = 2, .feed_forward = 4, .mask = {.causal = true}};
constexpr Model step = prompt.with({.queries = 1, .keys = 20, .model = 6, .heads = 2});
using Prompt = ladon::EncoderLayer<prompt>;
using Step = ladon::EncoderLayer<step>;
static_assert(std::is_same_v<Prompt::Weights, Step::Weights> && std::is_same_v<Prompt::Cache, Step::Cache>);
static_assert(std::is_same_v<ladon::MultiHeadAttention<ladon::Shape{.queries = 3, .model = 6, .heads = 1}>::Options,
                             ladon::MultiHeadAttention<Model{.tokens = 3, .model = 6, .heads = 1}>::Options>);

// A decoder hides later tokens, and takes one mask or two.
constexpr Model decoding{
    .tokens = 3, .memory = 5, .model = 6, .heads = 1, .feed_forward = 4, .memory_mask = {.padding = true}};
static_assert(std::is_same_v<ladon::DecoderLayer<decoding>::SelfMask, Causal>);
static_assert(std::is_same_v<ladon::DecoderLayer<decoding, Unmasked>::MemoryMask, Padding>);
static_assert(std::is_same_v<ladon::DecoderLayer<decoding, ladon::DecoderMasks<Unmasked>>::MemoryMask, Unmasked>);

}  // namespace
