// Computes a call in parts, for all phases and shares. A share is the work of one thread in a phase
// (include/ladon/threads.hpp). In this file, one thread computes all shares. In tests/support/threads.hpp, each share
// has a thread.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/threads.hpp>

namespace ladon_test {

// A team that computes all shares of a phase on one thread, the last share first. No share may depend on an earlier
// share. The workspace has room for `Size` shares. A test can set `shares` to a smaller number, so that one
// instantiation tests several numbers of shares.
template <std::size_t Size>
struct InTurn {
  static constexpr std::size_t size = Size;
  inline static std::size_t shares = Size;
  template <class F>
  static void drive(std::size_t phases, F share_of_phase) {
    for (std::size_t phase = 0; phase < phases; ++phase) {
      for (std::size_t i = shares; i-- > 0;) share_of_phase(phase, ladon::Share{i, shares});
    }
  }
};

// Overwrites the scratch memory of a thread with `value`. A phase must not read data that an earlier phase left in the
// scratch memory.
template <class Scratch>
void spoil(Scratch& scratch, float value) {
  float* const floats = reinterpret_cast<float*>(&scratch);
  for (std::size_t i = 0; i < sizeof scratch / sizeof(float); ++i) floats[i] = value;
}

// A layer, a stack or an attention whose run() computes all phases and shares in parts. `Team` is InTurn or
// OnThreads.
template <class Layer, class Team>
struct InPhases : Layer {
  using Workspace = typename Layer::template TeamWorkspace<Team::size>;
  using Weights = typename Layer::Weights;
  using Options = typename Layer::Options;

  template <class... To>
  static void run(const float* x, const Weights& weights, float* y, auto& workspace, const Options& options = {},
                  const To&... to) {
    drive(workspace, [&](const auto& part) { Layer::run(x, weights, y, part, options, to...); });
  }
  template <class... To>
  static void run(const float* x, const float* context, const Weights& weights, float* y, auto& workspace,
                  const Options& options = {}, const To&... to) {
    drive(workspace, [&](const auto& part) { Layer::run(x, context, weights, y, part, options, to...); });
  }

 private:
  template <class F>
  static void drive(auto& workspace, F run_part) {
    Team::drive(Layer::phases, [&](std::size_t phase, ladon::Share share) {
      spoil(workspace.scratch[share.index], std::numeric_limits<float>::quiet_NaN());
      run_part(workspace.part(phase, share));
    });
  }
};
template <class Attention, class Team>
struct AttentionInPhases : InPhases<Attention, Team> {
  using CrossWorkspace = typename Attention::template CrossTeamWorkspace<Team::size>;
};

}  // namespace ladon_test
