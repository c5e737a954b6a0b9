// Subjects: every instantiation under test behind one function pointer, so that what checks them is compiled once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <ladon/ladon.hpp>

#include "mask_form.hpp"

namespace ladon_test {

using CausalAndPadding = decltype(ladon::mask::Causal{} & ladon::mask::Padding{});

enum class LayoutKind { in_proj, separate, in_out, per_head };

// One run of a subject. Weights come as pointers in the order of their struct: each weight, then its bias if
// it has one.
struct Call {
  const float* x = nullptr;
  const float* context = nullptr;        // null: keys and values come from x
  const float* value_context = nullptr;  // null: values come from where keys do
  const float* const* weights = nullptr;
  float* y = nullptr;
  void* workspace = nullptr;
  float* const* maps = nullptr;  // one a layer; null: the overload without a map
  std::size_t tokens = ladon::all;
  std::size_t queries = ladon::all;
  std::size_t keys = ladon::all;
  std::ptrdiff_t offset = bottom_right;
  const std::uint8_t* may_see = nullptr;  // [keys]
  const std::uint8_t* pairs = nullptr;    // [heads or 1][queries][mask_keys]
  const std::uint32_t* bits = nullptr;    // [queries][words]
  const float* values = nullptr;          // [heads or 1][queries][mask_keys]
  std::size_t mask_keys = ladon::all;
  const float* slopes = nullptr;  // [heads]
  const float* sinks = nullptr;   // [heads]
  std::size_t rotary_offset = 0;
  bool capture = false;  // maps is one pointer: `stage` goes there
  ladon::Stage stage = ladon::Stage::weights;
  float epsilon = 1e-5f;
};

struct Subject {
  ladon::Shape shape;  // complete
  LayoutKind layout;
  std::size_t layers;  // maps that it gives
  std::size_t workspace_bytes;
  std::size_t cross_workspace_bytes;
  void (*run)(const Call&);
  MaskForm mask{};
  ScoreKind score{};
  bool captures = false;  // takes a stage
};

// What a mask type consists of, and its data for a call.
template <MaskForm Form>
struct MaskParts {
  static constexpr MaskForm form = Form;
  static constexpr bool causal = Form.causal, padding = Form.padding;
};
template <class Mask>
struct MaskOf;
template <>
struct MaskOf<ladon::mask::None> : MaskParts<MaskForm{}> {
  static void fill(auto&, const Call&) {}
};
template <>
struct MaskOf<ladon::mask::Causal> : MaskParts<MaskForm{.causal = true}> {
  static void fill(auto& data, const Call& call) {
    if (call.offset != bottom_right) data.offset = call.offset;
  }
};
template <std::size_t Left, std::size_t Right>
struct MaskOf<ladon::mask::Window<Left, Right>> : MaskParts<MaskForm{.window = true, .left = Left, .right = Right}> {
  static void fill(auto& data, const Call& call) {
    if (call.offset != bottom_right) data.offset = call.offset;
  }
};
template <std::ptrdiff_t Offset>
struct MaskOf<ladon::mask::CausalAt<Offset>>
    : MaskParts<MaskForm{.causal = true, .fixed_offset = true, .offset = Offset}> {
  static void fill(auto&, const Call&) {}
};
template <std::size_t Left, std::size_t Right, std::ptrdiff_t Offset>
struct MaskOf<ladon::mask::WindowAt<Left, Right, Offset>>
    : MaskParts<MaskForm{.window = true, .left = Left, .right = Right, .fixed_offset = true, .offset = Offset}> {
  static void fill(auto&, const Call&) {}
};
template <>
struct MaskOf<ladon::mask::Padding> : MaskParts<MaskForm{.padding = true}> {
  static void fill(auto& data, const Call& call) { data.may_see = call.may_see; }
};
template <>
struct MaskOf<ladon::mask::Bits> : MaskParts<MaskForm{.bits = true}> {
  static void fill(auto& data, const Call& call) { data.bits = call.bits; }
};
template <MaskForm Form>
struct PairsOf : MaskParts<Form> {
  static void fill(auto& data, const Call& call) {
    data.may_see = call.pairs;
    data.keys = call.mask_keys;
  }
};
template <>
struct MaskOf<ladon::mask::Boolean> : PairsOf<MaskForm{.boolean = true}> {};
template <>
struct MaskOf<ladon::mask::BooleanPerHead> : PairsOf<MaskForm{.boolean_per_head = true}> {};
template <MaskForm Form>
struct ValuesOf : MaskParts<Form> {
  static void fill(auto& data, const Call& call) {
    data.values = call.values;
    data.keys = call.mask_keys;
  }
};
template <>
struct MaskOf<ladon::mask::Additive> : ValuesOf<MaskForm{.additive = true}> {};
template <>
struct MaskOf<ladon::mask::AdditivePerHead> : ValuesOf<MaskForm{.additive_per_head = true}> {};
template <>
struct MaskOf<ladon::mask::Alibi> : MaskParts<MaskForm{.alibi = true}> {
  static void fill(auto& data, const Call& call) {
    data.slopes = call.slopes;
    if (call.offset != bottom_right) data.offset = call.offset;
  }
};
template <class A, class B>
struct MaskOf<ladon::mask::Both<A, B>> : MaskParts<(MaskOf<A>::form & MaskOf<B>::form)> {
  static void fill(auto& data, const Call& call) {
    MaskOf<A>::fill(data.first, call);
    MaskOf<B>::fill(data.second, call);
  }
};

template <class Mask, ladon::Shape S>
typename Mask::template Data<S> data_of(const Call& call) {
  typename Mask::template Data<S> data{};
  MaskOf<Mask>::fill(data, call);
  return data;
}

template <class Layer, class Mask>
typename Layer::Options options_of(const Call& call) {
  typename Layer::Options options{.tokens = call.tokens, .queries = call.queries, .keys = call.keys};
  options.mask = data_of<Mask, Layer::shape>(call);
  if constexpr (requires { options.sinks.data; }) options.sinks = call.sinks;
  return options;
}

// A rotary embedding and how its table is filled.
template <ladon::Pairing P, std::size_t Width, std::size_t Positions, int Base = 10000, int Scaling = 1>
struct RotaryOf : ladon::position::Rotary<P, Width, Positions> {
  static constexpr double base = Base, scaling = Scaling;
};

template <class Position>
void set_position(auto& options, const Call& call) {
  if constexpr (Position::rotates) {
    static const auto table =
        ladon::rotary_table<Position::positions, Position::width>(Position::base, Position::scaling);
    options.position = {.table = &table, .offset = call.rotary_offset};
  }
}

// The default scale is the oracle's own; any other is taken at its word, and a test of its own holds it to its formula.
template <ladon::Shape S, class Score, class Position>
ScoreKind kind_of_score() {
  ScoreKind kind{.softcap = static_cast<double>(Score::softcap), .sinks = Score::sinks};
  if (Score::scale(S) != ladon::score::Scaled::scale(S)) kind.scale = static_cast<double>(Score::scale(S));
  if constexpr (Position::rotates) {
    constexpr bool halves = Position::pairing == ladon::Pairing::halves;
    // by default the last query stands at the last key
    kind.rotary = {Position::width, halves, Position::base, Position::scaling, S.keys - S.queries, 0};
    kind.positions = Position::positions;
  }
  return kind;
}

template <class Layout, class Other>
constexpr bool same_but_for_biases =
    std::is_same_v<ladon::layout::WithoutBias<Layout>, ladon::layout::WithoutBias<Other>>;
template <class Layout>
constexpr LayoutKind kind_of = same_but_for_biases<Layout, ladon::layout::InProj>        ? LayoutKind::in_proj
                               : same_but_for_biases<Layout, ladon::layout::SeparateQKV> ? LayoutKind::separate
                               : same_but_for_biases<Layout, ladon::layout::InOut>       ? LayoutKind::in_out
                                                                                         : LayoutKind::per_head;

// Points the views of a weights struct, one after the other, to where `next` says.
template <class View>
  requires requires(View view) { view.weight; }
void point(View& view, const float* const*& next) {
  view.weight = *next++;
  if constexpr (requires { view.bias; }) view.bias = *next++;
}
template <class View, std::size_t N>
void point(std::array<View, N>& views, const float* const*& next) {
  for (View& view : views) point(view, next);
}
template <class Weights>
  requires requires(Weights w) { w.out_proj; }
void point(Weights& w, const float* const*& next) {
  if constexpr (requires { w.in_proj; }) {
    point(w.in_proj, next);
  } else {
    point(w.query_proj, next);
    point(w.key_proj, next);
    point(w.value_proj, next);
  }
  point(w.out_proj, next);
}
template <class Layer>
void point_feed_forward(Layer& layer, const float* const*& next) {
  if constexpr (requires { layer.gate; }) point(layer.gate, next);
  point(layer.linear1, next);
  point(layer.linear2, next);
  point(layer.norm1, next);
  point(layer.norm2, next);
}
template <class Layer>
  requires requires(Layer layer) { layer.attention; }
void point(Layer& layer, const float* const*& next) {
  point(layer.attention, next);
  point_feed_forward(layer, next);
}
template <class Layer>
  requires requires(Layer layer) { layer.cross_attention; }
void point(Layer& layer, const float* const*& next) {
  point(layer.self_attention, next);
  point(layer.cross_attention, next);
  point_feed_forward(layer, next);
  point(layer.norm3, next);
}

// Whether a subject is asked for scores before the softmax too: each stage is compiled by itself.
enum class Captures { weights, every_stage };

// Calls run(what): with nothing, with the map, or with what captures the stage that is asked for.
template <class Attention, Captures C, class Run>
void run_capturing(const Call& call, Run run) {
  using ladon::Stage;
  if (call.maps == nullptr) return run();
  if (!call.capture) return run(typename Attention::Map(call.maps[0]));
  if constexpr (C == Captures::every_stage) {
    switch (call.stage) {
      case Stage::scaled:
        return run(ladon::Capture<Stage::scaled>{call.maps[0]});
      case Stage::capped:
        return run(ladon::Capture<Stage::capped>{call.maps[0]});
      case Stage::masked:
        return run(ladon::Capture<Stage::masked>{call.maps[0]});
      case Stage::weights:
        return run(ladon::Capture<Stage::weights>{call.maps[0]});
    }
  }
}

// Of a MultiHeadAttention, or of what runs one (team.hpp).
template <class Attention, class Mask, class Layout = ladon::layout::InProj, class Score = ladon::score::Scaled,
          class Position = ladon::position::None, Captures C = Captures::weights>
Subject subject_of_attention() {
  const auto run = [](const Call& call) {
    typename Attention::Weights weights;
    const float* const* next = call.weights;
    point(weights, next);
    auto options = options_of<Attention, Mask>(call);
    set_position<Position>(options, call);
    if (call.context != nullptr) {
      auto& workspace = *static_cast<typename Attention::CrossWorkspace*>(call.workspace);
      run_capturing<Attention, C>(call, [&](auto... where) {
        Attention::run(call.x, call.context, weights, call.y, workspace, options, where...);
      });
    } else if constexpr (Attention::as_many_keys) {
      auto& workspace = *static_cast<typename Attention::Workspace*>(call.workspace);
      run_capturing<Attention, C>(
          call, [&](auto... where) { Attention::run(call.x, weights, call.y, workspace, options, where...); });
    }
  };
  return {Attention::shape,
          kind_of<Layout>,
          1,
          sizeof(typename Attention::Workspace),
          sizeof(typename Attention::CrossWorkspace),
          run,
          MaskOf<Mask>::form,
          kind_of_score<Attention::shape, Score, Position>(),
          C == Captures::every_stage};
}

template <ladon::Shape S, class Mask, class Layout = ladon::layout::InProj,
          class Target = ladon::detail::simd::NativeVectors, class Score = ladon::score::Scaled,
          class Position = ladon::position::None, Captures C = Captures::weights>
Subject attention_subject() {
  return subject_of_attention<ladon::MultiHeadAttention<S, Mask, Layout, Score, Position, Target>, Mask, Layout, Score,
                              Position, C>();
}

// Keys and values projected into a cache, and then attended to. They may come from different tokens.
template <ladon::Shape S, class Mask, class Layout = ladon::layout::SeparateQKV, class Score = ladon::score::Scaled,
          class Position = ladon::position::None>
Subject projected_subject() {
  using Attention = ladon::MultiHeadAttention<S, Mask, Layout, Score, Position>;
  struct Memory {
    typename Attention::Cache cache;
    typename Attention::KeyWorkspace keys;
    typename Attention::CachedWorkspace queries;
  };
  const auto run = [](const Call& call) {
    typename Attention::Weights weights;
    const float* const* next = call.weights;
    point(weights, next);
    auto options = options_of<Attention, Mask>(call);
    set_position<Position>(options, call);
    auto& memory = *static_cast<Memory*>(call.workspace);
    if constexpr (Attention::shape.key_model == Attention::shape.value_model) {
      Attention::project_keys(call.context, weights, memory.cache, memory.keys, options);
    } else {
      Attention::project_keys(call.context, call.value_context, weights, memory.cache, memory.keys, options);
    }
    run_capturing<Attention, Captures::weights>(call, [&](auto... where) {
      Attention::attend(call.x, memory.cache, weights, call.y, memory.queries, options, where...);
    });
  };
  return {Attention::shape,
          kind_of<Layout>,
          1,
          sizeof(Memory),
          sizeof(Memory),
          run,
          MaskOf<Mask>::form,
          kind_of_score<Attention::shape, Score, Position>()};
}

// x, context and weights[0] are q, k and v.
template <ladon::Shape S, class Mask, class Score = ladon::score::Scaled, class Position = ladon::position::None,
          Captures C = Captures::weights, class Target = ladon::detail::simd::NativeVectors>
Subject given_subject() {
  using Attention = ladon::Attention<S, Mask, Score, Position, Target>;
  const auto run = [](const Call& call) {
    auto& workspace = *static_cast<typename Attention::Workspace*>(call.workspace);
    auto options = options_of<Attention, Mask>(call);
    set_position<Position>(options, call);
    run_capturing<Attention, C>(call, [&](auto... where) {
      Attention::run(call.x, call.context, call.weights[0], call.y, workspace, options, where...);
    });
  };
  constexpr std::size_t bytes = sizeof(typename Attention::Workspace);
  return {Attention::shape,
          LayoutKind::separate,
          1,
          bytes,
          bytes,
          run,
          MaskOf<Mask>::form,
          kind_of_score<Attention::shape, Score, Position>(),
          C == Captures::every_stage};
}

template <class Layer, class Mask, class Layout = ladon::layout::InProj>
Subject subject_of_layer() {
  const auto run = [](const Call& call) {
    typename Layer::Weights weights;
    const float* const* next = call.weights;
    point(weights, next);
    weights.norm1.epsilon = weights.norm2.epsilon = call.epsilon;
    auto& workspace = *static_cast<typename Layer::Workspace*>(call.workspace);
    const auto options = options_of<Layer, Mask>(call);
    if (call.maps != nullptr) {
      Layer::run(call.x, weights, call.y, workspace, options, call.maps[0]);
    } else {
      Layer::run(call.x, weights, call.y, workspace, options);
    }
  };
  constexpr std::size_t bytes = sizeof(typename Layer::Workspace);
  return {Layer::shape, kind_of<Layout>, 1, bytes, bytes, run, MaskOf<Mask>::form};
}

template <ladon::Shape S, ladon::LayerConfig Config, class Mask, class Layout = ladon::layout::InProj,
          class Target = ladon::detail::simd::NativeVectors>
Subject layer_subject() {
  using Layer = ladon::EncoderLayer<S, Config, Mask, Layout, ladon::score::Scaled, ladon::position::None, Target>;
  return subject_of_layer<Layer, Mask, Layout>();
}

template <class Encoder, class Mask>
Subject subject_of_encoder() {
  constexpr std::size_t layers = std::tuple_size_v<typename Encoder::Maps>;
  const auto run = [](const Call& call) {
    typename Encoder::Weights weights;
    const float* const* next = call.weights;
    for (auto& layer : weights.layers) {
      point(layer, next);
      layer.norm1.epsilon = layer.norm2.epsilon = call.epsilon;
    }
    if constexpr (requires { weights.norm; }) {
      point(weights.norm, next);
      weights.norm.epsilon = call.epsilon;
    }
    auto& workspace = *static_cast<typename Encoder::Workspace*>(call.workspace);
    const auto options = options_of<Encoder, Mask>(call);
    if (call.maps != nullptr) {
      typename Encoder::Maps maps;
      for (std::size_t i = 0; i < layers; ++i) maps[i] = call.maps[i];
      Encoder::run(call.x, weights, call.y, workspace, options, maps);
    } else {
      Encoder::run(call.x, weights, call.y, workspace, options);
    }
  };
  constexpr std::size_t bytes = sizeof(typename Encoder::Workspace);
  return {Encoder::shape, LayoutKind::in_proj, layers, bytes, bytes, run, MaskOf<Mask>::form};
}

template <std::size_t Layers, ladon::Shape S, ladon::LayerConfig Config, class Mask, ladon::FinalNorm Final>
Subject encoder_subject() {
  return subject_of_encoder<ladon::Encoder<Layers, S, Config, Mask, Final>, Mask>();
}

}  // namespace ladon_test
