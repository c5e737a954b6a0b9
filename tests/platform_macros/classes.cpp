// Compiles the public classes behind the macros of platforms.
#include "macros.hpp"

#include <ladon/ladon.hpp>

namespace {

using ladon::Model, ladon::PrecisionKind;

constexpr Model encoder{.layers = 2,
                        .tokens = 20,
                        .model = 64,
                        .heads = 4,
                        .feed_forward = 64,
                        .activation = ladon::Activation::gelu,
                        .mask = {.causal = true, .padding = true, .bits = true, .alibi = true},
                        .score = {.softcap = 30, .sinks = true},
                        .position = {.width = 16, .positions = 64}};
constexpr Model decoder{.tokens = 8,
                        .memory = 10,
                        .model = 32,
                        .heads = 2,
                        .feed_forward = 32,
                        .activation = ladon::Activation::silu,
                        .norm_kind = ladon::NormKind::rms};
constexpr Model ring{
    .tokens = 4, .keys = 16, .model = 32, .heads = 2, .feed_forward = 32, .mask = {.causal = true, .left = 8}};

constexpr Model with(Model model, PrecisionKind precision) {
  model.precision = precision;
  return model;
}

}  // namespace

template <class Layer>
void run(const float* x, const typename Layer::Weights& weights, float* y, typename Layer::Workspace& workspace,
         const typename Layer::Options& options) {
  Layer::run(typename Layer::Input(x), weights, typename Layer::Output(y), workspace, options);
}
template <class Layer>
void extend(const float* x, typename Layer::Caches& caches, const typename Layer::Weights& weights, float* y,
            typename Layer::CachedWorkspace& workspace) {
  Layer::extend(x, caches, weights, y, workspace);
}
#define RUN(...)                                                                             \
  template void run<__VA_ARGS__>(const float*, const typename __VA_ARGS__::Weights&, float*, \
                                 typename __VA_ARGS__::Workspace&, const typename __VA_ARGS__::Options&)
RUN(ladon::Encoder<encoder>);
RUN(ladon::Encoder<with(encoder, PrecisionKind::bfloat16)>);
RUN(ladon::Encoder<with(encoder, PrecisionKind::int8)>);
template void extend<ladon::Encoder<ring>>(const float*, ladon::Encoder<ring>::Caches&,
                                           const ladon::Encoder<ring>::Weights&, float*,
                                           ladon::Encoder<ring>::CachedWorkspace&);

void decode(const float* x, const float* memory, const ladon::Decoder<decoder>::Weights& weights, float* y,
            ladon::Decoder<decoder>::Workspace& workspace) {
  ladon::Decoder<decoder>::run(x, memory, weights, y, workspace);
}
