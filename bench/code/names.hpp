// The public names that bench/code/record compiles, so that a kernel has one name in every state of the library. If a
// change renames public templates, this file gets a branch for the new names: #if
// __has_include(<ladon/new_header.hpp>).
#pragma once

#include <ladon/ladon.hpp>

namespace code {

using namespace ladon;

template <std::size_t Tokens, std::size_t Model, std::size_t Heads>
inline constexpr Shape shape{.queries = Tokens, .model = Model, .heads = Heads};
inline constexpr Shape grouped{.queries = 1, .keys = 256, .model = 256, .heads = 8, .kv_heads = 2};

using Float32 = layout::InProj;
using Int8 = layout::Int8<layout::InProj>;
using Rotated = layout::RotatedInt8<layout::InProj>;
using Pairs = layout::BFloat16<layout::InProj>;

struct Capped : score::Scaled {
  static constexpr float softcap = 50;
};
using Rotary = position::Rotary<Pairing::halves, 32, 256>;

template <Shape S, class Mask = mask::Unmasked, class Layout = Float32, class Score = score::Scaled,
          class Position = position::Unrotated>
using Attention = MultiHeadAttention<S, Mask, Layout, Score, Position>;

// The rest of a layer beside attention.
#if __has_include(<ladon/model.hpp>)
using Config = Model;
#else
using Config = LayerConfig;
#endif
template <Shape S>
inline constexpr Config post{.feed_forward = 4 * S.model};
template <Shape S>
inline constexpr Config gelu{.feed_forward = 4 * S.model, .activation = Activation::gelu, .norm = NormOrder::pre};
template <Shape S>
inline constexpr Config llama{.feed_forward = 2 * S.model,
                              .activation = Activation::silu,
                              .norm = NormOrder::pre,
                              .gated = true,
                              .norm_kind = NormKind::rms,
                              .bias = Bias::without};

#if __has_include(<ladon/model.hpp>)
template <Shape S, Config C, FinalNorm Final = FinalNorm::without, std::size_t Memory = 0, std::size_t Layers = 1>
inline constexpr Model model = [] {
  Model all = C.with(S);
  all.layers = Layers, all.final_norm = Final, all.memory = Memory;
  return all;
}();
template <Shape S, class Layout = Float32, Config C = post<S>>
using Layer = EncoderLayer<model<S, C>, mask::Unmasked, Layout>;
template <std::size_t Layers, Shape S, class Layout = Float32>
using Stack = Encoder<model<S, gelu<S>, FinalNorm::with, 0, Layers>, mask::Padding, Layout>;
template <Shape S, class Layout = layout::WithoutBias<Float32>>
using Llama = Encoder<model<S, llama<S>, FinalNorm::with, 0, 2>, mask::Causal, Layout, score::Scaled, Rotary>;
template <Shape S, class Layout = Float32>
using Translator = Decoder<model<S, post<S>, FinalNorm::without, 32, 2>, DecoderMasks<mask::Causal>, Layout>;
#else
template <Shape S, class Layout = Float32, Config Config = post<S>>
using Layer = EncoderLayer<S, Config, mask::Unmasked, Layout>;
template <std::size_t Layers, Shape S, class Layout = Float32>
using Stack = Encoder<Layers, S, gelu<S>, mask::Padding, FinalNorm::with, Layout>;
template <Shape S, class Layout = layout::WithoutBias<Float32>>
using Llama = Encoder<2, S, llama<S>, mask::Causal, FinalNorm::with, Layout, score::Scaled, Rotary>;
template <Shape S, class Layout = Float32>
using Translator = Decoder<2, S, 32, post<S>, mask::Causal, mask::Unmasked, FinalNorm::without, Layout>;
#endif

// One function for each verb. The arguments come from outside, so the compiler knows nothing about them.
template <class Block>
void run(const float* x, const void* weights, float* y, void* workspace, const void* options) {
  Block::run(x, *static_cast<const typename Block::Weights*>(weights), y,
             *static_cast<typename Block::Workspace*>(workspace),
             *static_cast<const typename Block::Options*>(options));
}
template <class Block>
void run_with_memory(const float* x, const float* memory, const void* weights, float* y, void* workspace,
                     const void* options) {
  Block::run(x, memory, *static_cast<const typename Block::Weights*>(weights), y,
             *static_cast<typename Block::Workspace*>(workspace),
             *static_cast<const typename Block::Options*>(options));
}
template <class Block>
void extend(const float* x, void* cache, const void* weights, float* y, void* workspace, const void* options) {
  if constexpr (requires { typename Block::Caches; }) {
    Block::extend(x, *static_cast<typename Block::Caches*>(cache),
                  *static_cast<const typename Block::Weights*>(weights), y,
                  *static_cast<typename Block::CachedWorkspace*>(workspace),
                  *static_cast<const typename Block::Options*>(options));
  } else {
    Block::extend(x, *static_cast<typename Block::Cache*>(cache), *static_cast<const typename Block::Weights*>(weights),
                  y, *static_cast<typename Block::CachedWorkspace*>(workspace),
                  *static_cast<const typename Block::Options*>(options));
  }
}
template <class Block>
void extend_with_memory(const float* x, void* caches, const void* memory, const void* weights, float* y,
                        void* workspace, const void* options) {
  Block::extend(
      x, *static_cast<typename Block::Caches*>(caches), *static_cast<const typename Block::MemoryCaches*>(memory),
      *static_cast<const typename Block::Weights*>(weights), y,
      *static_cast<typename Block::CachedWorkspace*>(workspace), *static_cast<const typename Block::Options*>(options));
}

}  // namespace code
