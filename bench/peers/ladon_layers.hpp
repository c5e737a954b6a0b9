// The layers that ladon_peer measures, on numbers that it was given: a file a shape adds its own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ladon/ladon.hpp>

#include "cases.hpp"
#include "peers/numbers.hpp"

namespace ladon_bench {

using namespace ladon;

class AnyLayer {
 public:
  virtual ~AnyLayer() = default;
  virtual void run() = 0;
  const std::vector<float>& result() const { return y_; }

 protected:
  explicit AnyLayer(std::size_t count) : y_(count) {}
  std::vector<float> y_;
};

template <class Linear>
Linear linear(const Numbers& numbers, const std::string& name) {
  return {numbers.at(name + "_weight").data(), numbers.at(name + "_bias").data()};
}

template <class Weights>
Weights attention_weights(const Numbers& n) {
  return {.in_proj = linear<decltype(Weights::in_proj)>(n, "in_proj"),
          .out_proj = linear<decltype(Weights::out_proj)>(n, "out_proj")};
}

// One of Ladon's layers, from weights to result.
template <class Layer>
class OneLayer : public AnyLayer {
 public:
  OneLayer(const Numbers& numbers, const typename Layer::Weights& weights)
      : AnyLayer(Layer::shape.queries * Layer::shape.model), x_(numbers.at("x")), weights_(weights) {}

  void run() override { Layer::run(x_.data(), weights_, y_.data(), *workspace_); }

 private:
  const std::vector<float>& x_;
  typename Layer::Weights weights_;
  std::unique_ptr<typename Layer::Workspace> workspace_ = std::make_unique<typename Layer::Workspace>();
};

using MakeLayer = std::unique_ptr<AnyLayer> (*)(const Numbers&);

// All of them by the names that cases have: each file adds its own before main begins.
inline std::map<std::string, MakeLayer>& layers() {
  static std::map<std::string, MakeLayer> all;
  return all;
}

template <Shape S, class Mask>
bool add_one_attention(const char* mask) {
  using Attention = MultiHeadAttention<S, Mask>;
  return layers()
      .emplace(Case{"attention", S.queries, S.model, S.heads, mask}.name(),
               [](const Numbers& n) -> std::unique_ptr<AnyLayer> {
                 return std::make_unique<OneLayer<Attention>>(n, attention_weights<typename Attention::Weights>(n));
               })
      .second;
}

template <Shape S>
bool add_attention() {
  return add_one_attention<S, mask::None>("full") && add_one_attention<S, mask::Causal>("causal");
}

template <Shape S>
bool add_encoder_layer() {
  using Layer = EncoderLayer<S, LayerForm{.feed_forward = 4 * S.model}>;
  return layers()
      .emplace(Case{"encoder_layer", S.queries, S.model, S.heads, "full"}.name(),
               [](const Numbers& n) -> std::unique_ptr<AnyLayer> {
                 using Weights = typename Layer::Weights;
                 const auto norm = [&](const std::string& name) {
                   return decltype(Weights::norm1){n.at(name + "_weight").data(), n.at(name + "_bias").data()};
                 };
                 return std::make_unique<OneLayer<Layer>>(
                     n, Weights{.attention = attention_weights<decltype(Weights::attention)>(n),
                                .linear1 = linear<decltype(Weights::linear1)>(n, "linear1"),
                                .linear2 = linear<decltype(Weights::linear2)>(n, "linear2"),
                                .norm1 = norm("norm1"),
                                .norm2 = norm("norm2")});
               })
      .second;
}

}  // namespace ladon_bench
