// Instantiates the public classes with each precision of weights and caches, and several kinds of masks, scores,
// position encodings and norms. The functions are compiled, but no program calls them.
#ifndef ALL_CLASSES_HPP
#define ALL_CLASSES_HPP

#include <ladon/ladon.hpp>

namespace all_classes {

// Attention, with and without projections.
template <class Attention>
struct UseAttention {
  static void run(const float* from, const typename Attention::Weights& weights, float* to,
                  typename Attention::Workspace& workspace, typename Attention::template TeamWorkspace<2>& team,
                  typename Attention::CrossWorkspace& cross, const typename Attention::Options& options) {
    Attention::run(from, weights, to, workspace, options);
    Attention::run(from, weights, to, team.part(1, {0, 2}), options, typename Attention::Map{to});
    Attention::run(from, from, weights, to, cross, options, ladon::Capture<ladon::Stage::masked>{to});
  }
  static void cache(const float* from, const typename Attention::Weights& weights, float* to,
                    typename Attention::Cache& cache, typename Attention::KeyWorkspace& keys,
                    typename Attention::CachedWorkspace& workspace, const typename Attention::Options& options) {
    Attention::project_keys(from, weights, cache, keys, options);
    Attention::attend(from, cache, weights, to, workspace, options);
    Attention::extend(from, cache, weights, to, workspace, options);
  }
};
template <class Attention>
struct UseGiven {
  static void run(const float* from, float* to, typename Attention::Workspace& workspace,
                  const typename Attention::Options& options) {
    Attention::run(from, from, from, to, workspace, options, typename Attention::Map{to});
  }
};

// Encoder layers and stacks. `Cache` is the cache of a layer or of a stack.
template <class Encoder, class Cache>
struct UseEncoder {
  static void run(const float* from, const typename Encoder::Weights& weights, float* to,
                  typename Encoder::Workspace& workspace, typename Encoder::template TeamWorkspace<2>& team,
                  const typename Encoder::Options& options) {
    Encoder::run(from, weights, to, workspace, options);
    Encoder::run(from, weights, to, team.part(1, {0, 2}), options);
  }
  static void extend(const float* from, Cache& cache, const typename Encoder::Weights& weights, float* to,
                     typename Encoder::CachedWorkspace& workspace, const typename Encoder::Options& options) {
    Encoder::extend(from, cache, weights, to, workspace, options);
  }
};
template <class Decoder, class Cache, class MemoryCache>
struct UseDecoder {
  static void run(const float* from, const typename Decoder::Weights& weights, float* to,
                  typename Decoder::Workspace& workspace, const typename Decoder::Options& options) {
    Decoder::run(from, from, weights, to, workspace, options);
  }
  static void extend(const float* from, Cache& cache, MemoryCache& memory, const typename Decoder::Weights& weights,
                     float* to, typename Decoder::MemoryWorkspace& memory_workspace,
                     typename Decoder::CachedWorkspace& workspace, const typename Decoder::Options& options) {
    Decoder::project_memory(from, weights, memory, memory_workspace, options);
    Decoder::extend(from, cache, memory, weights, to, workspace, options);
  }
};

constexpr ladon::Model attention{.tokens = 20, .model = 16, .heads = 2, .kv_heads = 1, .mask = {.causal = true}};
using Floats = ladon::MultiHeadAttention<attention>;
template struct UseAttention<Floats>;

constexpr ladon::Model given{.tokens = 5,
                             .keys = 7,
                             .model = 16,
                             .heads = 2,
                             .mask = {.boolean = true, .additive_per_head = true},
                             .score = {.softcap = 50, .sinks = true}};
template struct UseGiven<ladon::Attention<given>>;

constexpr ladon::Model layer{.tokens = 5,
                             .model = 16,
                             .heads = 2,
                             .cache_precision = ladon::CachePrecision::int8,
                             .feed_forward = 24,
                             .activation = ladon::Activation::gelu,
                             .norm = ladon::NormOrder::pre,
                             .gated = true,
                             .norm_kind = ladon::NormKind::rms,
                             .mask = {.left = 3, .right = 0, .padding = true},
                             .position = {ladon::Pairing::halves, 4, 16},
                             .precision = ladon::PrecisionKind::rotated_int8};
using Int8Layer = ladon::EncoderLayer<layer>;
template struct UseEncoder<Int8Layer, Int8Layer::Cache>;

constexpr ladon::Model stack{.layers = 2,
                             .tokens = 5,
                             .model = 16,
                             .heads = 2,
                             .feed_forward = 24,
                             .activation = ladon::Activation::silu,
                             .final_norm = ladon::FinalNorm::with,
                             .mask = {.bits = true, .alibi = true},
                             .precision = ladon::PrecisionKind::int8,
                             .kinds = {{.window = 3}, {}}};
using Int8Stack = ladon::Encoder<stack>;
template struct UseEncoder<Int8Stack, Int8Stack::Caches>;

// A cache that is a ring.
constexpr ladon::Model ring{
    .tokens = 4, .keys = 16, .model = 16, .heads = 2, .feed_forward = 24, .mask = {.causal = true, .left = 8}};
using RingLayer = ladon::EncoderLayer<ring>;
struct UseRing {
  static void extend(const float* from, RingLayer::Cache& cache, const RingLayer::Weights& weights, float* to,
                     RingLayer::CachedWorkspace& workspace) {
    RingLayer::extend(from, cache, weights, to, workspace);
  }
};

#if !LADON_DETERMINISTIC
constexpr ladon::Model halves{.tokens = 5,
                              .model = 16,
                              .heads = 2,
                              .cache_precision = ladon::CachePrecision::bfloat16,
                              .feed_forward = 24,
                              .activation = ladon::Activation::gelu_tanh,
                              .mask = {.causal = true},
                              .precision = ladon::PrecisionKind::bfloat16};
using BFloat16Layer = ladon::EncoderLayer<halves>;
template struct UseEncoder<BFloat16Layer, BFloat16Layer::Cache>;
#endif

constexpr ladon::Model decoder{.layers = 2, .tokens = 5, .memory = 6, .model = 16, .heads = 2, .feed_forward = 24};
using FloatDecoder = ladon::Decoder<decoder>;
template struct UseDecoder<FloatDecoder, FloatDecoder::Caches, FloatDecoder::MemoryCaches>;

// A call computes a single token. Its kernels differ from those of several tokens.
constexpr ladon::Model single{.tokens = 1, .model = 16, .heads = 2, .feed_forward = 24, .mask = {.causal = true}};
using SingleLayer = ladon::EncoderLayer<single>;
template struct UseEncoder<SingleLayer, SingleLayer::Cache>;

// What a model computes before its layers.
constexpr ladon::ConvolutionModel convolution{
    .length = 20, .inputs = 6, .outputs = 8, .width = 3, .stride = 2, .before = 1, .behind = 2, .groups = 2};
constexpr ladon::PatchModel patches{.rows = 24,
                                    .columns = 37,
                                    .patch_rows = 16,
                                    .patch_columns = 16,
                                    .stride_rows = 4,
                                    .model = 9,
                                    .transposed = true,
                                    .precision = ladon::PrecisionKind::int8};
constexpr ladon::TimeSeriesModel series{.length = 9, .patch = 4, .stride = 3};
constexpr ladon::MaskedSeriesModel masked_series{.length = 9, .patch = 4};
struct UseInputs {
  using Convolution = ladon::Convolution<convolution>;
  using Patches = ladon::PatchEmbedding<patches>;
  static void convolve(const float* from, const Convolution::Weights& weights, float* to,
                       Convolution::Workspace& workspace) {
    Convolution::run(from, 20, weights, to, workspace);
    ladon::group_norm<2, 8>(from, from, 1e-5f, 10, to, to);
    ladon::fold_weight_norm<convolution>(from, from, to);
    ladon::transpose(2, 3, from, to);
  }
  static void embed(const float* from, const Patches::Weights& weights, float* to, Patches::Workspace& workspace) {
    Patches::run(from, weights, to, workspace);
    ladon::time_series_patches<series>(from, to, ladon::time_series_scale<9>(from));
    ladon::masked_series_patches<masked_series>(from, 9, to, ladon::masked_series_scale<masked_series>(from, 9));
  }
};

// What a model computes behind its layers.
constexpr ladon::Model pool{
    .tokens = 9, .model = 16, .heads = 2, .feed_forward = 24, .precision = ladon::PrecisionKind::int8};
struct UsePool {
  using Pool = ladon::AttentionPool<pool>;
  static void run(const float* from, const Pool::Weights& weights, float* to, Pool::Workspace& workspace) {
    Pool::run(from, weights, to, workspace, 7);
  }
};

// The functions that belong to no class.
struct UseFunctions {
  static bool run(const ladon::Linear<8, 16>& linear, const float (&from)[16], float (&to)[8],
                  std::int8_t (&weight)[8][16], float (&scale)[8], std::int32_t (&sums)[8],
                  ladon::RotaryTable<4, 8>& table) {
    ladon::linear(linear, from, to);
    ladon::row_sums<8, 16>(weight, sums);
    ladon::fill_rotary_table(table);
    return ladon::quantise(linear, weight, scale) && ladon::quantise_rotated(linear, weight, scale) &&
           ladon::to_bfloat16(from[0]).bits == 0;
  }
};

}  // namespace all_classes

#endif
