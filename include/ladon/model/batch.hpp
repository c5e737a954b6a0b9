// SPDX-License-Identifier: Apache-2.0
// Batches: many texts in few calls of an encoder. Consecutive short texts share a call. A mask of bits keeps these
// texts apart, so none is padded. A long text has a call of its own. The encoder may be causal.
//     for_each_call(texts, most, share, compute)      divides the texts among calls, and the calls among threads
//     run_together<Stack>(..)                         one call for several texts
//
// The functions that `ladon-import` writes call these two: docs/import.md.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <ladon/checks.hpp>
#include <ladon/model.hpp>
#include <ladon/threads.hpp>

namespace LADON_NAMESPACE {

// `ids` has the token ids of all texts, one text after another. `lengths` [count] has the number of ids of each text,
// at least 1. `types` has the types of all tokens (BERT's token_type_ids), each a row of the model's table. If `types`
// is null, all types are 0. A model without token types ignores `types`.
struct Texts {
  const std::int32_t* ids;
  const std::size_t* lengths;
  std::size_t count;
  const std::int32_t* types = nullptr;

  constexpr std::size_t tokens() const noexcept {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += lengths[i];
    return sum;
  }
  constexpr const std::int32_t* types_from(std::size_t first) const noexcept {
    return types == nullptr ? nullptr : types + first;
  }
};

// One of several texts. `number` texts and `first` tokens precede it.
struct BatchText {
  const std::int32_t* ids;
  std::size_t tokens;
  std::size_t number;
  std::size_t first;
  const std::int32_t* types = nullptr;
};

template <class F>
constexpr void for_each_text(const Texts& texts, F&& f) noexcept {
  for (std::size_t i = 0, first = 0; i < texts.count; first += texts.lengths[i++])
    f(BatchText{texts.ids + first, texts.lengths[i], i, first, texts.types_from(first)});
}

// Divides the texts into calls. A call has as many consecutive texts as fit into `most` tokens, but at least one text.
// Runs compute(texts of the call, number of earlier texts) for the calls of this share. Shares divide all tokens
// evenly, and a call belongs to the share of its first token. The calls do not depend on the number of shares.
template <class Compute>
constexpr void for_each_call(const Texts& texts, std::size_t most, Share share, Compute&& compute) noexcept {
  LADON_EXPECTS(share.index < share.count, "ladon: a share's index is less than their count", {},
                {{"index", share.index}, {"count", share.count}});
  const std::size_t all_tokens = texts.tokens();
  for (std::size_t number = 0, first = 0; number < texts.count;) {
    std::size_t count = 0, tokens = 0;
    for (; number + count < texts.count; ++count) {
      const std::size_t length = texts.lengths[number + count];
      LADON_EXPECTS(length > 0, "ladon: each text has at least one token", {}, {{"text", number + count}});
      if (count > 0 && tokens + length > most) break;
      tokens += length;
    }
    if (first * share.count / all_tokens == share.index)
      compute(Texts{texts.ids + first, texts.lengths + number, count, texts.types_from(first)}, number);
    number += count, first += tokens;
  }
}

// Returns the model of calls for several texts, which have at most `tokens` tokens together. The weights stay the same.
// The mask of bits is joined with the masks of `model`. Preconditions: scores depend on positions only through the
// distance of key and query (rotary tables, mask::Relative, mask::Alibi, windows, causal masks). Also, a rotary table
// has `tokens` positions, and the scale of the scores is not Scale::keys.
constexpr Model model_of_texts(Model model, std::size_t tokens) noexcept {
  model.mask.bits = true;
  return model.with_tokens(tokens);
}

// Returns the member `bits` in the data of mask::Bits, alone or joined with other masks (mask/policy.hpp).
template <class Data>
constexpr auto& bits_of(Data& data) noexcept {
  if constexpr (requires { data.bits; }) {
    return data.bits;
  } else if constexpr (requires { data.second.bits; }) {
    return data.second.bits;
  } else {
    return bits_of(data.first);
  }
}

// The memory of a call for several texts. `Stack` is an Encoder of model_of_texts(.., Tokens).
template <class Stack, std::size_t Tokens>
struct TextsWorkspace {
  typename Stack::Workspace layers;
  std::uint32_t may_see[Tokens][(Tokens + 31) / 32];
};

// Computes all layers for the rows `x` [tokens][model] of several texts, which have at most `Tokens` tokens together.
// `options` has the tables of the model. A text begins at the position of its first row, not at position 0.
template <class Stack, std::size_t Tokens>
constexpr void run_together(const Texts& texts, const float* x, const typename Stack::Weights& weights, float* y,
                            TextsWorkspace<Stack, Tokens>& workspace, typename Stack::Options options = {}) noexcept {
  options.tokens = texts.tokens();
  LADON_EXPECTS(options.tokens <= Tokens, "ladon: more tokens than a call for several texts has room for",
                detail::caller_of(options), {{"tokens", options.tokens}, {"room", Tokens}});
  for_each_text(texts, [&](const BatchText& text) {
    auto& row = workspace.may_see[text.first];
    std::fill(std::begin(row), std::end(row), 0u);
    for (std::size_t key = text.first; key < text.first + text.tokens; ++key) row[key / 32] |= 1u << key % 32;
    for (std::size_t query = text.first + 1; query < text.first + text.tokens; ++query)
      std::copy(std::begin(row), std::end(row), workspace.may_see[query]);
  });
  bits_of(options.mask) = workspace.may_see;
  Stack::run(x, weights, y, workspace.layers, options);
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
