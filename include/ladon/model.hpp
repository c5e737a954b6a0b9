// SPDX-License-Identifier: Apache-2.0
// A model is one value: sizes, layers, and the kinds of mask, score, position encoding and weights.
//     constexpr ladon::Model model{.layers = 6, .tokens = 256, .model = 384, .heads = 12, .feed_forward = 1536};
//     using Encoder = ladon::Encoder<model>;
//
// Attention, layers and stacks take a Model, and ignore members that they do not use. A Shape converts to a Model. A
// type of your own replaces a kind: ladon::Encoder<model, MyMask>.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include <ladon/mask.hpp>
#include <ladon/position.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// The activation of the feed-forward network (Hendrycks and Gimpel, arXiv 1606.08415):
//     relu            max(0, x)
//     gelu            x * (1 + erf(x / sqrt(2))) / 2
//     gelu_tanh       x * (1 + tanh(u)) / 2, u = sqrt(2 / pi) * (x + 0.044715 x^3)
//     silu            x / (1 + e^-x)
//     quick_gelu      x / (1 + e^(-1.702 x))
//     squared_relu    max(0, x)^2                                 (arXiv 2109.08668)
//     xielu           x / 2 + p x^2 for x > 0, otherwise x / 2 + n (e^x - 1 - x), with the weights p, n of the layer
//                     (arXiv 2411.13010)
enum class Activation { relu, gelu, gelu_tanh, silu, quick_gelu, squared_relu, xielu };

// The places of the norms of a layer (arXiv 2002.04745):
//     post      after each residual connection    x = norm1(x + attend(x))
//     pre       before each sublayer              x = x + attend(norm1(x))
//     both      before and after each sublayer    x = x + output_norm1(attend(norm1(x)))    Gemma 2, GLM 4
//     output    after each sublayer               x = x + norm1(attend(x))                  OLMo 2, EXAONE 4
enum class NormOrder { post, pre, both, output };

// How the sublayers of a layer follow each other. A parallel layer needs NormOrder::pre:
//     parallel             x = x + attend(norm1(x)) + feed_forward(norm2(x))    GPT-NeoX, Falcon 40B
//     parallel_one_norm    x = x + attend(norm1(x)) + feed_forward(norm1(x))    GPT-J, Phi, Falcon 7B, Cohere
enum class Residual { sequential, parallel, parallel_one_norm };

// Whether a stack ends with a norm. Pre-LN stacks usually do.
enum class FinalNorm { without, with };

// A query sees the keys that all chosen masks show (mask.hpp). Several masks are joined in the order of the members:
// options.mask.second has the data of the last mask, options.mask.first the data of the others (mask/policy.hpp).
struct MaskKind {
  bool causal = false;                           // no key after the query
  std::size_t left = all;                        // largest number of keys before the query (mask::Window)
  std::size_t right = all;                       // largest number of keys after the query
  std::ptrdiff_t offset = mask::default_offset;  // query 0's position among the keys; default: options.mask.offset
  bool padding = false;                          // options.mask has a byte for each key
  bool boolean = false;                          // a byte for each query and key
  bool boolean_per_head = false;                 // a byte for each head, query and key
  bool bits = false;                             // a bit for each query and key
  bool additive = false;                         // a number for each query and key, which is added to the score
  bool additive_per_head = false;                // a number for each head, query and key
  bool alibi = false;                            // the score falls with the distance
  bool relative = false;                         // a number for each head and distance, which is added to the score
};

// The score (score.hpp). If `scale` is 0, the scale is 1 / sqrt(size), where `by` names the size.
enum class Scale { head_width, keys, model };
struct ScoreKind {
  Scale by = Scale::head_width;
  float scale = 0;
  float softcap = 0;  // 0: none
  bool sinks = false;
  bool operator==(const ScoreKind&) const = default;
};

// A rotary embedding of the first `width` features of each head (position.hpp), or none if `positions` is 0.
struct PositionKind {
  Pairing pairing = Pairing::neighbours;
  std::size_t width = 0;
  std::size_t positions = 0;
};

// The properties of a kind of layers, in addition to the mask and the position encoding of all layers. Each kind has
// its own rotary table, options.position.table[kind], so kinds may differ in the base. All kinds share their code,
// except layers with rings (Model::window_keys).
struct LayerKind {
  // Hides the keys more than `window` tokens before or after the query; 0 hides none. An offset of the mask has no
  // influence. Gemma, gpt-oss: sliding_window - 1; ModernBERT: local_attention / 2.
  std::size_t window = 0;
  bool unrotated = false;  // no rotary embedding (SmolLM3, Llama 4, Cohere 2)
  // Attention reads x, not norm1(x). The weights of norm1 are not read (ModernBERT's first layer).
  bool unnormed_attention = false;
};

// A list of at most `Most` items. In a constant expression, a longer list does not compile.
template <class T, std::size_t Most>
struct ShortList {
  std::size_t count = 0;
  T items[Most]{};
  constexpr ShortList() noexcept = default;
  constexpr ShortList(std::initializer_list<T> list) noexcept {
    for (const T& item : list) items[count++] = item;
  }
};

// The memory layout of attention's weights, and the precision of all linear maps (weights.hpp).
enum class LayoutKind { in_proj, separate_qkv, per_head, in_out, in_proj_in_out };
enum class PrecisionKind { float32, bfloat16, int8, rotated_int8, int4, rotated_int4 };

struct Model {
  std::size_t layers = 1;  // layers of a stack
  // The sizes of attention, with the defaults of Shape. `tokens` is Shape::queries.
  std::size_t tokens = 0;  // the largest number of tokens of a call
  std::size_t keys = 0;    // default: `tokens`; with a cache: its capacity
  std::size_t memory = 0;  // tokens of the memory that a decoder attends to
  // In layers whose kind has a window, the cache is a ring of this capacity; 0: not a ring. A ring must hold the window
  // and the tokens of one call. Rings require equal windows, and no mask but `causal`.
  std::size_t window_keys = 0;
  std::size_t model = 0;
  std::size_t heads = 0;
  std::size_t kv_heads = 0;
  std::size_t head_width = 0;
  std::size_t value_width = 0;
  std::size_t key_model = 0;
  std::size_t value_model = 0;
  CachePrecision cache_precision = CachePrecision::float32;
  // The feed-forward network and the norms.
  std::size_t feed_forward = 0;  // number of hidden features
  Activation activation = Activation::relu;
  NormOrder norm = NormOrder::post;
  Residual residual = Residual::sequential;
  float residual_scale = 1;  // multiplies the output of each sublayer (Granite)
  bool layer_scale = false;  // scale1 and scale2 multiply the features of each sublayer's output (arXiv 2103.17239)
  bool gated = false;        // true: hidden = f(gate(x)) * linear1(x) (arXiv 2002.05202); false: hidden = f(linear1(x))
  NormKind norm_kind = NormKind::layer;
  NormKind feed_forward_norm_kind = NormKind::same;  // of norm2 and output_norm2; decoders: norm3, output_norm3
  NormGain norm_gain = NormGain::weight;
  Bias bias = Bias::with;       // biases of the feed-forward network
  Bias norm_bias = Bias::with;  // biases of LayerNorms; RMSNorm never has a bias
  FinalNorm final_norm = FinalNorm::without;
  MaskKind mask{};          // a decoder always adds `causal`
  bool layer_bias = false;  // adds each encoder layer's weight attention_bias [heads][tokens][tokens] to scores (BEiT)
  MaskKind memory_mask{};   // of a decoder's attention to the memory
  ScoreKind score{};
  PositionKind position{};
  LayoutKind layout = LayoutKind::in_proj;
  // The number of blocks of in_proj. A block has rows of queries, then of keys, then of values. GPT-NeoX and BLOOM:
  // `heads`; Falcon 40B: `kv_heads`; CodeGen: 4, with values_before_keys.
  std::size_t projection_blocks = 1;
  bool values_before_keys = false;
  QueryKeyNormKind query_key_norm{};
  Bias projection_bias = Bias::with;  // biases of the query, key and value projections
  Bias output_bias = Bias::with;      // bias of attention's output projection
  PrecisionKind precision = PrecisionKind::float32;
  int activation_bits = 8;  // bits of a quantised input of an int8 product: 8 or 7
  // The kinds of a stack's layers, or nothing if all layers are equal. kind_of_layer[i] is the number of layer i's
  // kind. The list repeats if the stack is longer. By default, the list has each kind once. Gemma 3:
  //     .kinds = {{.window = 511}, {}}, .kind_of_layer = {0, 0, 0, 0, 0, 1}
  ShortList<LayerKind, 8> kinds{};
  ShortList<std::uint8_t, 128> kind_of_layer{};

  // sizes() returns the sizes as given, and shape() replaces every 0 by its default.
  constexpr Shape sizes() const noexcept {
    return {tokens, keys, model, heads, kv_heads, head_width, value_width, key_model, value_model, cache_precision};
  }
  constexpr Shape shape() const noexcept { return sizes().complete(); }
  // Returns the same model with the sizes of `shape`.
  constexpr Model with(const Shape& shape) const noexcept {
    Model other = *this;
    other.tokens = shape.queries, other.keys = shape.keys, other.model = shape.model;
    other.heads = shape.heads, other.kv_heads = shape.kv_heads;
    other.head_width = shape.head_width, other.value_width = shape.value_width;
    other.key_model = shape.key_model, other.value_model = shape.value_model;
    other.cache_precision = shape.cache_precision;
    return other;
  }
  // The model of one layer of the stack.
  constexpr Model one_layer() const noexcept {
    Model other = *this;
    other.layers = 1;
    other.final_norm = FinalNorm::without;
    return other;
  }
  // The same model for texts of at most `count` tokens. Removes windows as wide as the text: these hide no key, and
  // mask::Window rejects very wide windows. Precondition: the mask has no offset.
  constexpr Model with_tokens(std::size_t count) const noexcept {
    Model other = *this;
    other.tokens = count, other.keys = 0, other.window_keys = 0;
    if (other.mask.left >= count) other.mask.left = all;
    if (other.mask.right >= count) other.mask.right = all;
    for (LayerKind& kind : other.kinds.items) {
      if (kind.window >= count) kind.window = 0;
    }
    return other;
  }
  // The number of the kind of a layer. Precondition: there are kinds.
  constexpr std::size_t kind_number(std::size_t layer) const noexcept {
    return kind_of_layer.count == 0 ? layer % kinds.count : kind_of_layer.items[layer % kind_of_layer.count];
  }
  // Whether every number in kind_of_layer has a kind.
  constexpr bool has_all_kinds() const noexcept {
    for (std::size_t i = 0; i < kind_of_layer.count; ++i) {
      if (kind_of_layer.items[i] >= kinds.count) return false;
    }
    return true;
  }
  // Whether attention of layer number `layer` reads x without a norm.
  constexpr bool unnormed(std::size_t layer) const noexcept {
    return kinds.count > 0 && kinds.items[kind_number(layer)].unnormed_attention;
  }
  constexpr bool has_unnormed_kind() const noexcept {
    for (const LayerKind& kind : kinds.items) {
      if (kind.unnormed_attention) return true;
    }
    return false;
  }
  constexpr bool norms_input() const noexcept { return norm == NormOrder::pre || norm == NormOrder::both; }
  constexpr bool norms_output() const noexcept { return norm == NormOrder::both || norm == NormOrder::output; }
  // Return the largest window of the kinds, or 0 without windows, and whether all windows are equal.
  constexpr std::size_t window_of_kinds() const noexcept {
    std::size_t window = 0;
    for (const LayerKind& kind : kinds.items) window = window > kind.window ? window : kind.window;
    return window;
  }
  constexpr bool has_one_window() const noexcept {
    for (const LayerKind& kind : kinds.items) {
      if (kind.window != 0 && kind.window != window_of_kinds()) return false;
    }
    return true;
  }
  // Whether window_keys makes the cache of a layer a ring, and how many of the first `count` layers have such a ring.
  constexpr bool has_ring(std::size_t layer) const noexcept {
    return window_keys != 0 && kinds.count != 0 && kinds.items[kind_number(layer)].window != 0;
  }
  constexpr std::size_t rings_of(std::size_t count) const noexcept {
    std::size_t rings = 0;
    for (std::size_t i = 0; i < count; ++i) rings += std::size_t{has_ring(i)};
    return rings;
  }
  // Keeps only what determines the type of the weights. Lengths determine the type only with layer_bias.
  constexpr Model weights_only() const noexcept {
    Shape sizes = shape().with_one_token();
    if (layer_bias) sizes.queries = shape().queries, sizes.keys = shape().keys;
    return Model{.feed_forward = feed_forward,
                 .activation = activation == Activation::xielu ? activation : Activation::relu,
                 .norm = norm == NormOrder::both ? norm : NormOrder::post,
                 .residual = residual == Residual::parallel_one_norm ? residual : Residual::sequential,
                 .layer_scale = layer_scale,
                 .gated = gated,
                 .norm_kind = norm_kind,
                 .feed_forward_norm_kind = feed_forward_norm_kind,
                 .norm_gain = norm_gain,
                 .bias = bias,
                 .norm_bias = norm_bias,
                 .layer_bias = layer_bias}
        .with(sizes);
  }
};

constexpr Shape::operator Model() const noexcept { return Model{}.with(*this); }

// The masks of a decoder's self-attention, and of its attention to the memory.
template <mask::Policy Self, mask::Policy Memory = mask::Unmasked>
struct DecoderMasks {
  using SelfMask = Self;
  using MemoryMask = Memory;
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
