// Makes Subjects that call C kernels of decoders. A Subject (support/subject.hpp) describes the code under test, and
// check_decoder checks it.
#pragma once

#include <cstddef>
#include <iterator>

#include <doctest/doctest.h>

#include "c_subject.hpp"
#include "decoder_check.hpp"

namespace ladon_test {

// Sets the pointers of `options` to the arrays that receive the attention weights. `maps` has two pointers for each
// layer: one for self-attention, and one for the attention to the memory.
template <class O>
void receive_maps(O& options, float* const* maps) {
  if constexpr (requires { options.attention[0][0]; }) {
    for (std::size_t i = 0; i < std::size(options.attention); ++i) {
      options.attention[i] = maps[2 * i];
      options.memory.attention[i] = maps[2 * i + 1];
    }
  } else {
    options.attention = maps[0];
    options.memory.attention = maps[1];
  }
}

template <class O>
O decoder_options_from(const Call& call) {
  O options{};
  options.queries = c_length(call.queries);
  options.keys = c_length(call.tokens);
  options.memory.keys = c_length(call.keys);
  // A decoder may have a padding mask for self-attention and one for the attention to the memory, but a Call has only
  // one mask, may_see. If the kernel has a padding mask for self-attention, may_see becomes this mask. Otherwise,
  // may_see becomes the mask for the attention to the memory.
  if constexpr (requires { options.padding; }) {
    options.padding = call.may_see;
  } else if constexpr (requires { options.memory.padding; }) {
    options.memory.padding = call.may_see;
  }
  if (call.maps != nullptr) receive_maps(options, call.maps);
  return options;
}

// Returns a Subject that calls the kernel `Run` with the instruction set `Isa`. A kernel without DISPATCH ignores
// `Isa`.
template <ladon::Shape S, std::size_t Memory, std::size_t WorkspaceBytes, class W, class O, auto Run>
Subject c_decoder_subject(std::size_t layers = 1) {
  Subject subject{};
  subject.shape = ladon::memory_shape<S.complete(), Memory>();
  subject.layout = WeightLayout::in_proj;
  subject.layers = 2 * layers;
  subject.workspace_bytes = subject.cross_workspace_bytes = WorkspaceBytes;
  subject.run = [](const Call& call) {
    const W weights = c_weights<W>(call.weights);
    const O options = decoder_options_from<O>(call);
    CHECK(Run(call.x, call.context, &weights, call.y, call.workspace, &options) == LADON_OK);
  };
  return subject;
}

}  // namespace ladon_test
