// SPDX-License-Identifier: Apache-2.0
// Writes a text token by token. The program has a class with the parts of its model:
//     struct Parts {
//       template <std::size_t Tokens>
//       using Stack = ladon::Encoder<llama(Tokens)>;  // or a Decoder
//       static constexpr std::size_t vocabulary = 32000;
//       Stack<1>::Weights weights;
//
//       // Writes the rows x [tokens][model] of tokens number first, first + 1, ..
//       void embed(const std::int32_t* ids, std::size_t first, std::size_t tokens, float* x) const;
//       // Writes `logits` [vocabulary] from the last row y [model] of the stack.
//       void head(const float* y, float* logits) const;
//       // Optional: the options of the stack, such as a rotary table, without the number of tokens.
//       template <class S>
//       typename S::Options options() const;
//     };
//
// Non-const functions may change members, such as a workspace. docs/decoding.md has an example.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/model/sampling.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE {

enum class TextStatus {
  empty,          // the text has no token yet
  ready,          // the text has the tokens; after `read` and `next`, `logits` belong to the next token
  unknown_token,  // an id is not in the vocabulary
  full,           // the text would be longer than `capacity`
};

// Holds one text and all memory of its calls: sizeof(TextGenerator) bytes, at first all 0. A call reads up to
// PromptTokens tokens of a prompt at once. `Choice` returns a token from logits, like Sampler and Likeliest.
template <class Parts, std::size_t PromptTokens = 32, class Choice = Sampler<Parts::vocabulary>>
class TextGenerator {
 public:
  using Step = typename Parts::template Stack<1>;
  using Prompt = typename Parts::template Stack<PromptTokens>;
  static_assert(std::is_same_v<typename Step::Caches, typename Prompt::Caches>,
                "ladon: Parts::Stack<1> and Parts::Stack<PromptTokens> differ in more than the tokens of a call");
  // The largest number of tokens of a text: `all` if every cache is a ring and there is no rotary table.
  static constexpr std::size_t capacity = [] {
    std::size_t most = Step::shape.keys;
    if constexpr (requires { Step::Caches::value_type::ring; }) {
      if (Step::Caches::value_type::ring) most = all;
    }
    if constexpr (requires { Step::Layer::Position::positions; }) {
      if (Step::Layer::Position::positions < most) most = Step::Layer::Position::positions;
    }
    return most;
  }();
  static constexpr bool attends_memory = requires { typename Step::MemoryCaches; };

  Choice choose{};

  // Begins a new text.
  constexpr void clear() noexcept {
    length_ = 0;
    status_ = TextStatus::empty;
    if constexpr (requires { caches_.clear(); }) {
      caches_.clear();
    } else {
      for (auto& cache : caches_) cache.clear();
    }
  }
  // Begins a new text of a decoder, which attends to `memory` [rows][model], the output of an encoder.
  constexpr void start(Parts& parts, const float* memory, std::size_t rows) noexcept
    requires attends_memory
  {
    clear();
    typename Step::Options options{};
    options.memory.keys = rows;
    Step::project_memory(memory, parts.weights, memory_.caches, memory_.workspace, options);
  }

  // Appends tokens, and computes `logits`. If the result is not `ready`, changes only status().
  constexpr TextStatus read(Parts& parts, const std::int32_t* ids, std::size_t count) noexcept {
    if (append(parts, ids, count) != TextStatus::ready || count == 0) return status_;
    parts.head(y_ + (count - 1) % PromptTokens * Step::shape.model, logits_);
    return status_;
  }

  // Appends tokens, such as a part of a prompt, without computing `logits`: `read` or `next` must append the prompt's
  // last tokens. If each part has a multiple of PromptTokens tokens, a prompt in parts takes no more time than in one
  // call, and gives equal bits. If the result is not `ready`, changes only status().
  constexpr TextStatus append(Parts& parts, const std::int32_t* ids, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (ids[i] < 0 || static_cast<std::size_t>(ids[i]) >= Parts::vocabulary)
        return status_ = TextStatus::unknown_token;
    }
    if (count > capacity - length_) return status_ = TextStatus::full;
    if (length_ + count == 0) return status_ = TextStatus::empty;
    for (std::size_t taken = 0; count > 0; count -= taken, ids += taken) {
      taken = count < PromptTokens ? count : PromptTokens;
      parts.embed(ids, length_, taken, x_);
      extend(parts, taken);
      length_ += taken;
    }
    return status_ = TextStatus::ready;
  }

  // Appends tokens. Returns the choice for the next token, which the text does not contain yet. Returns no_token if
  // `read` does not return `ready`, or if no logit exceeds -inf.
  constexpr std::int32_t next(Parts& parts, const std::int32_t* ids, std::size_t count) noexcept {
    return read(parts, ids, count) == TextStatus::ready ? choose(logits_) : no_token;
  }

  constexpr TextStatus status() const noexcept { return status_; }  // of the latest call
  constexpr std::size_t length() const noexcept { return length_; }
  constexpr float* logits() noexcept { return logits_; }  // [vocabulary]

 private:
  struct Nothing {};
  template <class Stack>
  struct Memory {};
  template <class Stack>
    requires requires { typename Stack::MemoryCaches; }
  struct Memory<Stack> {
    typename Stack::MemoryCaches caches{};
    typename Stack::MemoryWorkspace workspace{};
  };

  constexpr void extend(Parts& parts, std::size_t tokens) noexcept {
    if constexpr (PromptTokens > 1) {
      if (tokens > 1) return extend<Prompt>(parts, tokens, prompt_workspace_);
    }
    extend<Step>(parts, tokens, step_workspace_);
  }
  template <class Stack>
  constexpr void extend(Parts& parts, std::size_t tokens, typename Stack::CachedWorkspace& workspace) noexcept {
    typename Stack::Options options{};
    if constexpr (requires { parts.template options<Stack>(); }) options = parts.template options<Stack>();
    const float* const x = x_;
    float* const y = y_;
    if constexpr (attends_memory) {
      options.self.tokens = tokens;
      Stack::extend(x, caches_, memory_.caches, parts.weights, y, workspace, options);
    } else {
      options.tokens = tokens;
      Stack::extend(x, caches_, parts.weights, y, workspace, options);
    }
  }

  typename Step::Caches caches_{};
  LADON_NO_UNIQUE_ADDRESS Memory<Step> memory_{};
  typename Step::CachedWorkspace step_workspace_{};
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<(PromptTokens > 1), typename Prompt::CachedWorkspace, Nothing>
      prompt_workspace_{};
  float x_[PromptTokens * Step::shape.model]{};
  float y_[PromptTokens * Step::shape.model]{};
  float logits_[Parts::vocabulary]{};
  std::size_t length_ = 0;
  TextStatus status_ = TextStatus::empty;
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
