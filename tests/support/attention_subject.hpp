// Makes Subjects (subject.hpp) for three kinds of attention. The first kind projects queries, keys and values. The
// second kind attends to keys and values that were projected in advance. The third kind has no projections.
#pragma once

#include "guarded.hpp"
#include "mask_data.hpp"
#include "weight_views.hpp"

namespace ladon_test {

template <class Layer, class Mask>
typename Layer::Options options_of(const Call& call) {
  typename Layer::Options options{.tokens = call.tokens, .queries = call.queries, .keys = call.keys};
  options.mask = data_of<Mask, Layer::shape>(call);
  if constexpr (requires { options.sinks.data; }) options.sinks = call.sinks;
  return options;
}

// Like Rotary, but with template arguments for the base and the scaling of the angles. set_position computes the rotary
// table from this base and this scaling.
template <ladon::Pairing P, std::size_t Width, std::size_t Positions, int Base = 10000, int Scaling = 1>
struct RotaryOf : ladon::position::Rotary<P, Width, Positions> {
  static constexpr double base = Base, scaling = Scaling;
};

template <class Position>
void set_position(auto& options, const Call& call) {
  if constexpr (Position::rotates) {
    using Table = typename Position::Table;
    static const Guarded<Table> table = [] {
      const Table filled = ladon::rotary_table<Position::positions, Position::width>(Position::base, Position::scaling);
      return Guarded<Table>(std::span(&filled, 1), Edge::end);
    }();
    options.position = {.table = table.data(), .offset = call.rotary_offset};
  }
}

// Returns the score policy as plain data for the oracle. The oracle computes the default scale itself. For another
// scale, ScoreForm::scale is the number that the policy's function `scale` returns. test_scores.cpp tests the formulas
// of these functions.
template <ladon::Shape S, class Score, class Position>
ScoreForm score_form() {
  ScoreForm form{.softcap = static_cast<double>(Score::softcap), .sinks = Score::sinks};
  if (Score::scale(S) != ladon::score::Scaled::scale(S)) form.scale = static_cast<double>(Score::scale(S));
  if constexpr (Position::rotates) {
    constexpr bool halves = Position::pairing == ladon::Pairing::halves;
    // By default, the last query has the position of the last key. So query 0 has the position S.keys - S.queries.
    form.rotary = {Position::width, halves, Position::base, Position::scaling, S.keys - S.queries, 0};
    form.positions = Position::positions;
  }
  return form;
}

// Selects what a subject can capture: nothing, only the attention weights, or the scores at every stage (after the
// scale, the softcap or the mask). Each stage needs a separate instantiation, so most subjects capture only the
// weights.
enum class Captures { none, weights, every_stage };
inline constexpr Captures captures_of_wide_set = maps_of_wide_set == Maps::with ? Captures::weights : Captures::none;

// Calls run() if `call` requests no attention weights, run(map) if it requests attention weights, and run(capture) if
// it requests the scores at a stage.
template <class Attention, Captures C, class Run>
void run_capturing(const Call& call, Run run) {
  using ladon::Stage;
  if (call.maps == nullptr) return run();
  if constexpr (C != Captures::none) {
    if (!call.capture) return run(typename Attention::Map(call.maps[0]));
  }
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

// Selects the calls that a subject can make. A shape with as many queries as keys has two functions, for
// self-attention and for attention to a context. A subject with Calls::self does not instantiate the second function.
enum class Calls { any, self };

// Returns the Subject that runs `Attention`. `Attention` is a MultiHeadAttention, or a type of team.hpp that runs a
// MultiHeadAttention in phases.
template <class Attention, class Mask, class Layout = ladon::layout::InProj, class Score = ladon::score::Scaled,
          class Position = ladon::position::Unrotated, Captures C = Captures::weights,
          class Vectors = ladon::detail::vec::NativeVectors, Calls K = Calls::any>
Subject subject_of_attention() {
  const auto run = [](const Call& call) {
    typename Attention::Weights weights;
    const float* const* next = call.weights;
    point(weights, next);
    set_norm_epsilon(weights, call.epsilon);
    auto options = options_of<Attention, Mask>(call);
    set_position<Position>(options, call);
    if (call.context != nullptr) {
      if constexpr (K == Calls::any) {
        auto& workspace = *static_cast<typename Attention::CrossWorkspace*>(call.workspace);
        run_capturing<Attention, C>(call, [&](auto... where) {
          Attention::run(call.x, call.context, weights, call.y, workspace, options, where...);
        });
      }
    } else if constexpr (Attention::as_many_keys) {
      auto& workspace = *static_cast<typename Attention::Workspace*>(call.workspace);
      run_capturing<Attention, C>(
          call, [&](auto... where) { Attention::run(call.x, weights, call.y, workspace, options, where...); });
    }
  };
  return {Attention::shape,
          weight_layout<Layout>,
          1,
          sizeof(typename Attention::Workspace),
          sizeof(typename Attention::CrossWorkspace),
          run,
          MaskOf<Mask>::form,
          score_form<Attention::shape, Score, Position>(),
          C == Captures::every_stage,
          activation_bits<typename Layout::Precision, Vectors>,
          ladon::detail::attends_in_pairs<Attention::shape, typename Layout::Precision, Vectors>,
          Layout::Norms::kind,
          1e-5f,
          C == Captures::none ? Maps::without : Maps::with};
}

template <ladon::Shape S, class Mask, class Layout = ladon::layout::InProj,
          class Vectors = ladon::detail::vec::NativeVectors, class Score = ladon::score::Scaled,
          class Position = ladon::position::Unrotated, Captures C = Captures::weights>
Subject attention_subject() {
  return subject_of_attention<ladon::MultiHeadAttention<S, Mask, Layout, Score, Position, Vectors>, Mask, Layout, Score,
                              Position, C, Vectors>();
}

// Like attention_subject, but for check_self and other tests that never pass a context.
template <ladon::Shape S, class Mask, class Layout = ladon::layout::InProj,
          class Vectors = ladon::detail::vec::NativeVectors, class Score = ladon::score::Scaled,
          class Position = ladon::position::Unrotated, Captures C = Captures::weights>
Subject self_subject() {
  return subject_of_attention<ladon::MultiHeadAttention<S, Mask, Layout, Score, Position, Vectors>, Mask, Layout, Score,
                              Position, C, Vectors, Calls::self>();
}

template <ladon::Shape S, class Mask, class Layout = ladon::layout::InProj>
Subject attention_without_maps() {
  return attention_subject<S, Mask, Layout, ladon::detail::vec::NativeVectors, ladon::score::Scaled,
                           ladon::position::Unrotated, captures_of_wide_set>();
}
template <ladon::Shape S, class Mask, class Layout = ladon::layout::InProj>
Subject self_without_maps() {
  return self_subject<S, Mask, Layout, ladon::detail::vec::NativeVectors, ladon::score::Scaled,
                      ladon::position::Unrotated, captures_of_wide_set>();
}

// Returns the subject that projects keys and values into a cache, and then attends to the cache. Keys and values may be
// projected from different inputs.
template <ladon::Shape S, class Mask, class Layout = ladon::layout::SeparateQKV, class Score = ladon::score::Scaled,
          class Position = ladon::position::Unrotated>
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
    set_norm_epsilon(weights, call.epsilon);
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
          weight_layout<Layout>,
          1,
          sizeof(Memory),
          sizeof(Memory),
          run,
          MaskOf<Mask>::form,
          score_form<Attention::shape, Score, Position>(),
          false,
          activation_bits<typename Layout::Precision>,
          false,
          Layout::Norms::kind};
}

// Returns the Subject for attention without projections, whose inputs are queries q, keys k and values v. A Call passes
// q as x, k as context and v as weights[0].
template <ladon::Shape S, class Mask, class Score = ladon::score::Scaled, class Position = ladon::position::Unrotated,
          Captures C = Captures::weights, class Vectors = ladon::detail::vec::NativeVectors>
Subject given_subject() {
  using Attention = ladon::Attention<S, Mask, Score, Position, Vectors>;
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
          WeightLayout::separate,
          1,
          bytes,
          bytes,
          run,
          MaskOf<Mask>::form,
          score_form<Attention::shape, Score, Position>(),
          C == Captures::every_stage};
}

}  // namespace ladon_test
