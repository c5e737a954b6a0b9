// SPDX-License-Identifier: Apache-2.0
// Implements the C functions of a kernel without a cache: NAME_run, NAME_run_with and NAME_run_phase. For a decoder,
// `context` is the output of an encoder. call.hpp describes the template arguments `Kernel`, `Settings`, `W` and `O`.
#pragma once

#include <cstddef>

#include "call.hpp"
#include "memory.hpp"

namespace c_kernel::inline LADON_ABI {

template <class Kernel, class Settings, class W, class O>
struct RunEntry : Entry<Kernel, Settings, W, O> {
  using Base = Entry<Kernel, Settings, W, O>;
  static constexpr ladon::Shape shape = Kernel::shape;
  using Workspace = typename MemoryOf<Kernel, Settings::context>::Workspace;
  using Shared = typename MemoryOf<Kernel, Settings::context>::Shared;
  using Scratch = typename Kernel::Scratch;
  static constexpr Sizes bytes = checked_sizes<Kernel, Settings>();
  // The three functions of a kernel for self-attention. Each function calls the function below that has the same name
  // and the parameter `context`, and passes a null pointer as `context`.
  static ladon_status run(const float* x, const W* weights, float* y, void* workspace) {
    return run(x, nullptr, weights, y, workspace);
  }
  static ladon_status run_with(const float* x, const W* weights, float* y, void* workspace, const O* options) {
    return run_with(x, nullptr, weights, y, workspace, options);
  }
  static ladon_status run_phase(std::size_t phase, std::size_t share, std::size_t shares, const float* x,
                                const W* weights, float* y, void* workspace, const O* options) {
    return run_phase(phase, share, shares, x, nullptr, weights, y, workspace, options);
  }

  // The three functions of a kernel for attention to a context, or of a decoder. The overloads for self-attention call
  // these functions, too.
  static ladon_status run(const float* x, const float* context, const W* weights, float* y, void* workspace) {
    const Given given{x, context, weights, y, workspace, bytes.workspace};
    Prepared call;
    const ladon_status status = prepare(given, Base::given(nullptr), call);
    if (status == LADON_OK) compute(given, call);
    return status;
  }
  static ladon_status run_with(const float* x, const float* context, const W* weights, float* y, void* workspace,
                               const O* options) {
    const O& chosen = Base::given(options);
    const Given given{x, context, weights, y, workspace, bytes.workspace};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Prepared::with_attention(chosen, [&](auto&&... to) { compute(given, call, to...); });
    return status;
  }
  static ladon_status run_phase(std::size_t phase, std::size_t share, std::size_t shares, const float* x,
                                const float* context, const W* weights, float* y, void* workspace, const O* options) {
    if (!Base::has_share(phase, share, shares)) return LADON_NO_SUCH_PHASE;
    const O& chosen = Base::given(options);
    const Given given{x, context, weights, y, workspace, bytes.shared + shares * bytes.scratch};
    Prepared call;
    const ladon_status status = prepare(given, chosen, call);
    if (status != LADON_OK) return status;
    Prepared::with_attention(chosen, [&](auto&&... to) { compute_share(phase, {share, shares}, given, call, to...); });
    return status;
  }

 private:
  using typename Base::Prepared;
  struct Given {
    const float* x;
    const float* context;  // null in self-attention and in encoders
    const W* weights;
    float* y;
    void* workspace;
    std::size_t workspace_bytes;
  };

  static LADON_COLD ladon_status prepare(const Given& given, const O& options, Prepared& call) {
    typename Prepared::Checked check;
    check.expect(given.x != nullptr && (!takes_context<Settings> || given.context != nullptr), LADON_NULL_INPUT);
    check.expect(given.y != nullptr, LADON_NULL_OUTPUT);
    check.aligned(given.workspace, LADON_NULL_WORKSPACE);
    call.take_lengths(check, options);
    if (!check.ok()) return check.status();

    const ladon::Lengths lengths = call.lengths;
    check.writes(given.y, lengths.queries * shape.model);
    check.writes(static_cast<const std::byte*>(given.workspace), given.workspace_bytes);
    Prepared::attention(check, options);
    check.reads_x(given.x, (Settings::context ? lengths.queries : lengths.longer()) * shape.model);
    check.reads(given.context, (Prepared::has_memory ? call.memory_keys : lengths.keys) * shape.key_model);
    call.take_options(check, options);
    call.take_weights(check, given.weights);
    Prepared::positions(check, options, 0, lengths.keys);
    Prepared::positions(check, options, Prepared::bottom_right(), lengths.queries);
    return check.status();
  }

  template <class... To>
  static LADON_NOINLINE void compute(const Given& given, const Prepared& call, To&&... to) {
    auto& workspace = *static_cast<Workspace*>(given.workspace);
    if constexpr (takes_context<Settings>) {
      Kernel::run(given.x, given.context, call.weights, given.y, workspace, call.options, to...);
    } else {
      Kernel::run(given.x, call.weights, given.y, workspace, call.options, to...);
    }
  }

  template <class... To>
  static LADON_NOINLINE void compute_share(std::size_t phase, ladon::Share share, const Given& given,
                                           const Prepared& call, To&&... to) {
    auto* const memory = static_cast<std::byte*>(given.workspace);
    auto& shared = *reinterpret_cast<Shared*>(memory);
    auto& scratch = *reinterpret_cast<Scratch*>(memory + sizeof(Shared) + share.index * sizeof(Scratch));
    const ladon::Part<Shared, Scratch> part{phase, share, shared, scratch};
    if constexpr (takes_context<Settings>) {
      Kernel::run(given.x, given.context, call.weights, given.y, part, call.options, to...);
    } else {
      Kernel::run(given.x, call.weights, given.y, part, call.options, to...);
    }
  }
};

}  // namespace c_kernel::inline LADON_ABI
