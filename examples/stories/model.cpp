#include "model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ladon/ladon.hpp>
#include <limits>
#include <string>
#include <type_traits>

#include "error.hpp"

namespace stories {
namespace {

// The prompt goes in so many tokens at once: few texts' beginnings are longer, and the vectors are full.
constexpr std::size_t chunk = 32;

constexpr ladon::LayerConfig config{.feed_forward = feed_forward_width,
                                    .activation = ladon::Activation::silu,
                                    .norm = ladon::NormOrder::pre,
                                    .gated = true,
                                    .norm_kind = ladon::NormKind::rms,
                                    .bias = ladon::Bias::without};

using Position = ladon::position::Rotary<ladon::Pairing::neighbours, head_width, max_positions>;

// At most `Tokens` a call.
template <std::size_t Tokens>
using Stack = ladon::Encoder<
    layer_count,
    ladon::Shape{
        .queries = Tokens, .keys = max_positions, .model = model_width, .heads = head_count, .kv_heads = kv_head_count},
    config, ladon::mask::Causal, ladon::FinalNorm::with, ladon::layout::WithoutBias<ladon::layout::SeparateQKV>,
    ladon::score::Scaled, Position>;

// The names of llama2.c's checkpoint on the right, the names of Ladon's layer on the left.
template <class Stack>
typename Stack::Layer::Weights wire(const LayerTensors& tensors) {
  return {
      .attention = {.query_proj = {tensors.query},
                    .key_proj = {tensors.key},
                    .value_proj = {tensors.value},
                    .out_proj = {tensors.output}},
      .gate = {tensors.gate},
      .linear1 = {tensors.up},
      .linear2 = {tensors.down},
      .norm1 = {tensors.attention_norm, norm_epsilon},
      .norm2 = {tensors.feed_forward_norm, norm_epsilon},
  };
}

template <class Stack>
typename Stack::Weights wire(const Checkpoint& checkpoint) {
  typename Stack::Weights weights{};
  for (std::size_t i = 0; i < layer_count; ++i) weights.layers[i] = wire<Stack>(checkpoint.layers[i]);
  weights.norm = {checkpoint.final_norm, norm_epsilon};
  return weights;
}

}  // namespace

class Model::Network {
 public:
  explicit Network(const Checkpoint& checkpoint) : embedding_(checkpoint.embedding), weights_(wire<Step>(checkpoint)) {}

  void clear() noexcept {
    for (auto& cache : caches_) cache.clear();
  }
  [[nodiscard]] std::size_t length() const noexcept { return caches_.front().length; }

  Logits extend(std::span<const TokenId> tokens) noexcept {
    std::size_t count = 0;  // of the last call
    for (; !tokens.empty(); tokens = tokens.subspan(count)) {
      count = std::min(tokens.size(), chunk);
      lookup(tokens.first(count));
      if (count == 1) {
        Step::extend(x_.data(), caches_, weights_, y_.data(), step_workspace_, {.position = {.table = &rotary_}});
      } else {
        Prompt::extend(x_.data(), caches_, weights_, y_.data(), prompt_workspace_,
                       {.tokens = count, .position = {.table = &rotary_}});
      }
    }
    ladon::linear(Classifier{embedding_}, y_.data() + (count - 1) * model_width, logits_);
    return logits_;
  }

 private:
  using Prompt = Stack<chunk>;
  using Step = Stack<1>;
  static_assert(std::is_same_v<Prompt::Caches, Step::Caches> && std::is_same_v<Prompt::Weights, Step::Weights>);
  using Classifier = ladon::Linear<vocabulary_size, model_width, ladon::Order::out_in, ladon::Bias::without>;

  void lookup(std::span<const TokenId> tokens) noexcept {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      std::copy_n(embedding_ + tokens[i] * model_width, model_width, x_.data() + i * model_width);
  }

  const float* embedding_;  // [vocabulary_size][model_width]
  Step::Weights weights_;
  Position::Table rotary_ = ladon::rotary_table<max_positions, head_width>(rotary_base);
  Step::Caches caches_{};
  Prompt::CachedWorkspace prompt_workspace_{};
  Step::CachedWorkspace step_workspace_{};
  std::array<float, chunk * model_width> x_{};  // [tokens][model_width]
  std::array<float, chunk * model_width> y_{};
  std::array<float, vocabulary_size> logits_{};
};

namespace {

void check(std::span<const TokenId> tokens, std::size_t length) {
  if (tokens.empty()) throw examples::Error("expected at least one token, found none");
  if (tokens.size() > max_positions - length)
    throw examples::Error("expected at most " + std::to_string(max_positions) + " tokens, found " +
                          std::to_string(length + tokens.size()));
  const TokenId largest = std::ranges::max(tokens);
  if (largest >= vocabulary_size)
    throw examples::Error("expected tokens below " + std::to_string(vocabulary_size) + ", found " +
                          std::to_string(largest));
}

bool all_finite(Logits logits) {
  bool finite = true;
  for (const float logit : logits) finite &= std::abs(logit) <= std::numeric_limits<float>::max();
  return finite;
}

}  // namespace

Model::Model(const std::filesystem::path& file, files::Load load)
    : file_(file, load),
      checkpoint_(find_tensors(file_.bytes(), file)),
      network_(std::make_unique<Network>(checkpoint_)) {}

Model::~Model() = default;

void Model::clear() noexcept { network_->clear(); }

std::size_t Model::length() const noexcept { return network_->length(); }

Logits Model::extend(std::span<const TokenId> tokens) {
  check(tokens, length());
  const Logits logits = network_->extend(tokens);
  if (!all_finite(logits)) throw examples::Error("the model's answer is not finite: is its file damaged?");
  return logits;
}

}  // namespace stories
