// The layers that ladon_peer measures. The driver provides the input and the weights. The source file of each shape
// adds its layers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ladon/ladon.hpp>

#include "cases.hpp"
#include "numbers.hpp"
#include "team.hpp"

namespace ladon_bench {

using namespace ladon;

inline constexpr std::size_t most_threads = 8;

class AnyLayer {
 public:
  virtual ~AnyLayer() = default;
  virtual void run() = 0;
  virtual void rest() {}  // called before other processes are measured
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

// A layer of Ladon that one thread computes.
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

// A layer of Ladon that several threads compute. The threads exist from the first run of a round to its end.
template <class Layer>
class TeamLayer : public AnyLayer {
 public:
  TeamLayer(const Numbers& numbers, const typename Layer::Weights& weights, std::size_t threads)
      : AnyLayer(Layer::shape.queries * Layer::shape.model),
        x_(numbers.at("x")),
        weights_(weights),
        threads_(threads) {}

  void run() override {
    if (!team_) team_ = std::make_unique<Team>(threads_);
    team_->run(Layer::phases, [this](std::size_t phase, Share share) {
      Layer::run_phase(phase, share, x_.data(), weights_, y_.data(), workspace_->shared,
                       workspace_->scratch[share.index]);
    });
  }
  void rest() override { team_.reset(); }

 private:
  const std::vector<float>& x_;
  typename Layer::Weights weights_;
  std::size_t threads_;
  using Workspace = typename Layer::template TeamWorkspace<most_threads>;
  std::unique_ptr<Workspace> workspace_ = std::make_unique<Workspace>();
  std::unique_ptr<Team> team_;
};

template <class Layer>
std::unique_ptr<AnyLayer> make(const Numbers& numbers, const typename Layer::Weights& weights, std::size_t threads) {
  if (threads == 1) return std::make_unique<OneLayer<Layer>>(numbers, weights);
  return std::make_unique<TeamLayer<Layer>>(numbers, weights, threads);
}

using MakeLayer = std::unique_ptr<AnyLayer> (*)(const Numbers&, std::size_t threads);

// Returns the functions that make the layers, by the names of the cases. The file of each shape adds its functions
// before main begins.
inline std::map<std::string, MakeLayer>& layers() {
  static std::map<std::string, MakeLayer> all;
  return all;
}

template <Shape S, class Mask>
bool add_one_attention(const char* mask) {
  using Attention = MultiHeadAttention<S, Mask>;
  return layers()
      .emplace(Case{"attention", S.queries, S.model, S.heads, mask}.name(),
               [](const Numbers& n, std::size_t threads) -> std::unique_ptr<AnyLayer> {
                 return make<Attention>(n, attention_weights<typename Attention::Weights>(n), threads);
               })
      .second;
}

template <Shape S>
bool add_attention() {
  return add_one_attention<S, mask::None>("full") && add_one_attention<S, mask::Causal>("causal");
}

template <Shape S>
bool add_encoder_layer() {
  using Layer = EncoderLayer<S, LayerConfig{.feed_forward = 4 * S.model}>;
  return layers()
      .emplace(Case{"encoder_layer", S.queries, S.model, S.heads, "full"}.name(),
               [](const Numbers& n, std::size_t threads) -> std::unique_ptr<AnyLayer> {
                 using Weights = typename Layer::Weights;
                 const auto norm = [&](const std::string& name) {
                   return decltype(Weights::norm1){n.at(name + "_weight").data(), n.at(name + "_bias").data()};
                 };
                 return make<Layer>(n,
                                    Weights{.attention = attention_weights<decltype(Weights::attention)>(n),
                                            .linear1 = linear<decltype(Weights::linear1)>(n, "linear1"),
                                            .linear2 = linear<decltype(Weights::linear2)>(n, "linear2"),
                                            .norm1 = norm("norm1"),
                                            .norm2 = norm("norm2")},
                                    threads);
               })
      .second;
}

}  // namespace ladon_bench
