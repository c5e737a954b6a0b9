// Defines the layers of Ladon that the program ladon_peer measures. The Python program bench/ladon_bench/peers sends
// the input and the weights. Each shape has a source file (from ladon_layer.cpp.in), which adds the layers of this
// shape to the map that layers() returns.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ladon/ladon.hpp>

#include "cases.hpp"
#include "linear_memory.hpp"
#include "numbers.hpp"
#include "team.hpp"

namespace ladon_bench {

using namespace ladon;

inline constexpr std::size_t most_threads = 8;

class AnyLayer {
 public:
  virtual ~AnyLayer() = default;
  virtual void run() = 0;
  virtual void rest() {}  // ends the threads, if the layer has some, before other processes are measured
  const std::vector<float>& result() const { return y_; }

 protected:
  explicit AnyLayer(std::size_t count) : y_(count) {}
  std::vector<float> y_;
};

// Returns the linear map `name`. For "linear1", `numbers` has "linear1_weight" and "linear1_bias".
template <std::size_t Out, std::size_t In, class Precision>
LinearMemory<Out, In, Precision> linear(const Numbers& numbers, const std::string& name) {
  return {numbers.at(name + "_weight").data(), numbers.at(name + "_bias").data()};
}

// Holds the weights of attention. view() returns pointers to these weights, in the struct that a call of attention
// takes.
template <class Attention, class Precision>
class AttentionMemory {
 public:
  explicit AttentionMemory(const Numbers& n)
      : in_(linear<3 * model, model, Precision>(n, "in_proj")), out_(linear<model, model, Precision>(n, "out_proj")) {}

  typename Attention::Weights view() const { return {.in_proj = in_.view(), .out_proj = out_.view()}; }

 private:
  static constexpr std::size_t model = Attention::shape.model;
  LinearMemory<3 * model, model, Precision> in_;
  LinearMemory<model, model, Precision> out_;
};

// The weights of an encoder layer.
template <class Layer, class Precision>
class EncoderLayerMemory {
 public:
  using Weights = typename Layer::Weights;

  explicit EncoderLayerMemory(const Numbers& n)
      : attention_(n),
        linear1_(linear<hidden, model, Precision>(n, "linear1")),
        linear2_(linear<model, hidden, Precision>(n, "linear2")),
        norm1_{n.at("norm1_weight").data(), n.at("norm1_bias").data()},
        norm2_{n.at("norm2_weight").data(), n.at("norm2_bias").data()} {}

  Weights view() const {
    return {.attention = attention_.view(),
            .linear1 = linear1_.view(),
            .linear2 = linear2_.view(),
            .norm1 = norm1_,
            .norm2 = norm2_};
  }

 private:
  struct Attention {  // the parts of a MultiHeadAttention that AttentionMemory needs
    using Weights = decltype(EncoderLayerMemory::Weights::attention);
    static constexpr Shape shape = Layer::shape;
  };
  static constexpr std::size_t model = Layer::shape.model, hidden = 4 * model;
  AttentionMemory<Attention, Precision> attention_;
  LinearMemory<hidden, model, Precision> linear1_;
  LinearMemory<model, hidden, Precision> linear2_;
  decltype(Weights::norm1) norm1_;
  decltype(Weights::norm2) norm2_;
};

// A layer of Ladon that one thread computes.
template <class Layer, class Memory>
class OneLayer : public AnyLayer {
 public:
  explicit OneLayer(const Numbers& numbers)
      : AnyLayer(Layer::shape.queries * Layer::shape.model), x_(numbers.at("x")), memory_(numbers) {}

  void run() override { Layer::run(x_.data(), weights_, y_.data(), *workspace_); }

 private:
  const std::vector<float>& x_;
  Memory memory_;
  typename Layer::Weights weights_ = memory_.view();
  std::unique_ptr<typename Layer::Workspace> workspace_ = std::make_unique<typename Layer::Workspace>();
};

// A layer of Ladon that several threads compute. The first run of a round starts the threads. At the end of the round,
// rest() ends the threads.
template <class Layer, class Memory>
class TeamLayer : public AnyLayer {
 public:
  TeamLayer(const Numbers& numbers, std::size_t threads)
      : AnyLayer(Layer::shape.queries * Layer::shape.model), x_(numbers.at("x")), memory_(numbers), threads_(threads) {}

  void run() override {
    if (!team_) team_ = std::make_unique<Team>(threads_);
    team_->run(Layer::phases, [this](std::size_t phase, Share share) {
      Layer::run(x_.data(), weights_, y_.data(), workspace_->part(phase, share));
    });
  }
  void rest() override { team_.reset(); }

 private:
  const std::vector<float>& x_;
  Memory memory_;
  typename Layer::Weights weights_ = memory_.view();
  std::size_t threads_;
  using Workspace = typename Layer::template TeamWorkspace<most_threads>;
  std::unique_ptr<Workspace> workspace_ = std::make_unique<Workspace>();
  std::unique_ptr<Team> team_;
};

template <class Layer, class Memory>
std::unique_ptr<AnyLayer> make(const Numbers& numbers, std::size_t threads) {
  if (threads == 1) return std::make_unique<OneLayer<Layer, Memory>>(numbers);
  return std::make_unique<TeamLayer<Layer, Memory>>(numbers, threads);
}

using MakeLayer = std::unique_ptr<AnyLayer> (*)(const Numbers&, std::size_t threads);

// Returns a map from the name of a case to the function that makes its layer. The source file of each shape adds its
// entries when its static variables are initialised, before main begins.
inline std::map<std::string, MakeLayer>& layers() {
  static std::map<std::string, MakeLayer> all;
  return all;
}

template <Shape S, class Precision>
bool add(const char* layer, const char* mask, MakeLayer make_layer) {
  const Case what{.layer = layer,
                  .tokens = S.queries,
                  .model = S.model,
                  .heads = S.heads,
                  .mask = mask,
                  .precision = name_of<Precision>};
  return layers().emplace(what.name(), make_layer).second;
}

template <Shape S, class Precision, class Mask>
bool add_one_attention(const char* mask) {
  using Attention = MultiHeadAttention<S, Mask, layout::InProj::With<Precision>>;
  return add<S, Precision>("attention", mask, make<Attention, AttentionMemory<Attention, Precision>>);
}

template <Shape S, class Precision>
bool add_attention() {
  return add_one_attention<S, Precision, mask::Unmasked>("full") &&
         add_one_attention<S, Precision, mask::Causal>("causal");
}

template <Shape S, class Precision>
bool add_encoder_layer() {
  using Layer =
      EncoderLayer<Model{.feed_forward = 4 * S.model}.with(S), mask::Unmasked, layout::InProj::With<Precision>>;
  return add<S, Precision>("encoder_layer", "full", make<Layer, EncoderLayerMemory<Layer, Precision>>);
}

}  // namespace ladon_bench
