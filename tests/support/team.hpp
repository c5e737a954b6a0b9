// The callers of run_phase: one thread that computes all shares one after the other, or one thread for each share
// (threads.hpp).
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/threads.hpp>

namespace ladon_test {

// Computes the last share first, because no share may depend on an earlier share.
template <std::size_t Size>
struct InTurn {
  static constexpr std::size_t size = Size;
  template <class F>
  static void drive(std::size_t phases, F share_of_phase) {
    for (std::size_t phase = 0; phase < phases; ++phase) {
      for (std::size_t i = Size; i-- > 0;) share_of_phase(phase, ladon::Share{i, Size});
    }
  }
};

// Overwrites the scratch of a thread, because a phase must not use data of an earlier phase in the scratch.
template <class Scratch>
void spoil(Scratch& scratch, float value) {
  float* const floats = reinterpret_cast<float*>(&scratch);
  for (std::size_t i = 0; i < sizeof scratch / sizeof(float); ++i) floats[i] = value;
}

// A layer, a stack or an attention whose run() lets a team compute all phases and shares.
template <class Layer, class Team>
struct InPhases : Layer {
  using Workspace = typename Layer::template TeamWorkspace<Team::size>;
  using Weights = typename Layer::Weights;
  using Options = typename Layer::Options;

  template <class... To>
  static void run(const float* x, const Weights& weights, float* y, auto& workspace, const Options& options = {},
                  const To&... to) {
    drive(workspace, [&](std::size_t phase, ladon::Share share, auto& scratch) {
      Layer::run_phase(phase, share, x, weights, y, workspace.shared, scratch, options, to...);
    });
  }
  template <class... To>
  static void run(const float* x, const float* context, const Weights& weights, float* y, auto& workspace,
                  const Options& options = {}, const To&... to) {
    drive(workspace, [&](std::size_t phase, ladon::Share share, auto& scratch) {
      Layer::run_phase(phase, share, x, context, weights, y, workspace.shared, scratch, options, to...);
    });
  }

 private:
  template <class F>
  static void drive(auto& workspace, F run_phase) {
    Team::drive(Layer::phases, [&](std::size_t phase, ladon::Share share) {
      auto& scratch = workspace.scratch[share.index];
      spoil(scratch, std::numeric_limits<float>::quiet_NaN());
      run_phase(phase, share, scratch);
    });
  }
};
template <class Attention, class Team>
struct AttentionInPhases : InPhases<Attention, Team> {
  using CrossWorkspace = typename Attention::template CrossTeamWorkspace<Team::size>;
};

}  // namespace ladon_test
