#include "minilm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "model_error.hpp"

namespace minilm {
namespace {

void check(std::span<const TokenId> ids) {
  if (ids.empty() || ids.size() > max_tokens)
    throw ModelError("expected 1 to " + std::to_string(max_tokens) + " tokens, found " + std::to_string(ids.size()));
  const TokenId largest = std::ranges::max(ids);
  if (largest >= vocabulary_size)
    throw ModelError("expected token ids below " + std::to_string(vocabulary_size) + ", found " +
                     std::to_string(largest) + " (another model's vocab.txt?)");
}

// Returns the sum of term(0) to term(model_width - 1). The function adds eight independent partial sums, so an addition
// need not wait for the previous addition. With one sum, the embeddings of 128 tokens would take 155 us instead of 35
// us (Zen 4).
template <class Term>
double sum_of(Term term) {
  constexpr std::size_t together = 8;
  static_assert(model_width % together == 0);
  std::array<double, together> sums{};
  for (std::size_t i = 0; i < model_width; i += together)
    for (std::size_t j = 0; j < together; ++j) sums[j] += term(i + j);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Computes LayerNorm of one token, with sums in double. Double costs little time, because LayerNorm needs about a
// thousand additions for a token, and the encoder needs millions.
void normalise(float* token, const Norm& norm) {
  const double mean = sum_of([&](std::size_t i) { return static_cast<double>(token[i]); }) / model_width;
  const auto square = [&](std::size_t i) {
    const double off = static_cast<double>(token[i]) - mean;
    return off * off;
  };
  const double variance = sum_of(square) / model_width;
  const double scale = 1 / std::sqrt(variance + static_cast<double>(layer_norm_epsilon));
  for (std::size_t i = 0; i < model_width; ++i) {
    const double normal = (static_cast<double>(token[i]) - mean) * scale;
    token[i] = static_cast<float>(normal * static_cast<double>(norm.weight[i]) + static_cast<double>(norm.bias[i]));
  }
}

// Returns the mean of the rows of `y` [tokens][model_width], scaled to length 1.
Embedding pool(const float* y, std::size_t tokens) {
  std::array<double, model_width> sum{};
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t i = 0; i < model_width; ++i) sum[i] += static_cast<double>(y[t * model_width + i]);
  // Scales the sum of the rows to length 1. The mean, scaled to length 1, is the same vector, because the mean and the
  // sum have the same direction.
  double length = 0;
  for (const double value : sum) length += value * value;
  length = std::sqrt(length);
  if (!std::isfinite(length) || length == 0)
    throw ModelError("the model's answer has no direction: its file's values are damaged");
  Embedding embedding{};
  for (std::size_t i = 0; i < model_width; ++i) embedding[i] = static_cast<float>(sum[i] / length);
  return embedding;
}

template <class Dense, std::size_t... Index>
std::unique_ptr<Stack> make_stack_at(std::size_t index, const LayersOf<Dense>& layers, std::index_sequence<Index...>) {
  using Make = std::unique_ptr<Stack> (*)(const LayersOf<Dense>&);
  constexpr std::array<Make, sizeof...(Index)> make{make_stack<capacities[Index]>...};
  return make[index](layers);
}

// Calls f with the layers of an encoder. The type of the layers depends on the precision of the weights:
// LayersOf<Dense>, LayersOf<BFloat16Dense>, LayersOf<Int8Dense> or LayersOf<RotatedInt8Dense>.
template <class F>
auto visit_layers(const SentenceEncoder::AnyLayers& any, const F& f) {
  if (const auto* bfloat16 = std::get_if<BFloat16Layers>(&any)) return f(bfloat16->layers());
  if (const auto* int8 = std::get_if<Int8Layers>(&any)) return f(int8->layers());
  if (const auto* rotated = std::get_if<RotatedInt8Layers>(&any)) return f(rotated->layers());
  return f(std::get<Layers>(any));
}

SentenceEncoder::AnyLayers find_any_layers(const Safetensors& file, Precision precision) {
  if (precision == Precision::bfloat16) return BFloat16Layers(file);
  if (precision == Precision::int8 && has_plain_int8_weights(file)) return Int8Layers(file);
  if (precision == Precision::int8) return RotatedInt8Layers(file);
  return find_layers(file);
}

// Copies the attention weights of the first attention.tokens tokens from `maps` [layer][head][capacity][capacity] to
// attention.weights [layer][head][tokens][tokens].
void keep_active(const std::vector<float>& maps, std::size_t capacity, Attention& attention) {
  const std::size_t tokens = attention.tokens;
  attention.weights.clear();
  for (std::size_t matrix = 0; matrix < layer_count * head_count; ++matrix) {
    for (std::size_t query = 0; query < tokens; ++query) {
      const float* row = maps.data() + (matrix * capacity + query) * capacity;
      attention.weights.insert(attention.weights.end(), row, row + tokens);
    }
  }
}

// Sets the mask so that the `count` tokens from `first` on see each other, and no other tokens.
void show_each_other(std::size_t first, std::size_t count, SharedStack::Sight& sight) {
  auto& row = sight[first];
  row = {};
  for (std::size_t token = first; token < first + count; ++token) row[token / 32] |= 1U << token % 32;
  std::fill_n(sight.begin() + static_cast<std::ptrdiff_t>(first), count, row);
}

// Returns how many texts from the beginning of `texts` fit into one run of max_tokens tokens.
std::size_t texts_of_one_run(std::span<const std::vector<TokenId>> texts) {
  std::size_t count = 0, tokens = 0;
  while (count < texts.size() && tokens + texts[count].size() <= max_tokens) tokens += texts[count++].size();
  return count;
}

}  // namespace

float similarity(const Embedding& a, const Embedding& b) {
  double product = 0;
  for (std::size_t i = 0; i < model_width; ++i) product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return static_cast<float>(product);
}

SentenceEncoder::SentenceEncoder(const std::filesystem::path& model_file, files::Load load, Precision precision)
    : file_(model_file, load), embeddings_(find_embeddings(file_)), layers_(find_any_layers(file_, precision)) {}

Embedding SentenceEncoder::embed(std::span<const TokenId> ids) { return embed(ids, nullptr); }

Embedding SentenceEncoder::embed(std::span<const TokenId> ids, Attention& attention) { return embed(ids, &attention); }

Embedding SentenceEncoder::embed(std::span<const TokenId> ids, Attention* attention) {
  check(ids);
  const std::size_t tokens = ids.size();
  const auto fits = std::ranges::lower_bound(capacities, tokens);
  auto& [stack, x, y] = runner(static_cast<std::size_t>(fits - capacities.begin()));
  lookup(ids, x.data());
  if (attention == nullptr) {
    stack->run(x.data(), y.data(), tokens);
  } else {
    const std::size_t map_size = head_count * *fits * *fits;
    std::vector<float> maps(layer_count * map_size);
    AttentionPointers pointers{};
    for (std::size_t layer = 0; layer < layer_count; ++layer) pointers[layer] = maps.data() + layer * map_size;
    stack->run(x.data(), y.data(), tokens, pointers);
    attention->tokens = tokens;
    keep_active(maps, *fits, *attention);
  }
  return pool(y.data(), tokens);
}

std::vector<Embedding> SentenceEncoder::embed(std::span<const std::vector<TokenId>> texts) {
  for (const std::vector<TokenId>& ids : texts) check(ids);
  std::vector<Embedding> embeddings;
  embeddings.reserve(texts.size());
  while (!texts.empty()) {
    const std::size_t count = texts_of_one_run(texts);
    if (count == 1) {
      embeddings.push_back(embed(texts.front()));
    } else {
      embed_in_one_run(texts.first(count), embeddings);
    }
    texts = texts.subspan(count);
  }
  return embeddings;
}

void SentenceEncoder::embed_in_one_run(std::span<const std::vector<TokenId>> texts,
                                       std::vector<Embedding>& embeddings) {
  if (!shared_) {
    shared_ = std::make_unique<Shared>();
    shared_->stack = visit_layers(layers_, [](const auto& layers) { return make_shared_stack(layers); });
  }
  auto& [stack, sight, x, y] = *shared_;
  std::size_t tokens = 0;
  for (const std::vector<TokenId>& ids : texts) {
    lookup(ids, x.data() + tokens * model_width);
    show_each_other(tokens, ids.size(), sight);
    tokens += ids.size();
  }
  stack->run(x.data(), y.data(), tokens, sight);
  const float* first = y.data();
  for (const std::vector<TokenId>& ids : texts) {
    embeddings.push_back(pool(first, ids.size()));
    first += ids.size() * model_width;
  }
}

void SentenceEncoder::lookup(std::span<const TokenId> ids, float* x) const {
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const float* word = embeddings_.word + ids[t] * model_width;
    const float* position = embeddings_.position + t * model_width;
    float* token = x + t * model_width;
    for (std::size_t i = 0; i < model_width; ++i) token[i] = word[i] + position[i] + embeddings_.type[i];
    normalise(token, embeddings_.norm);
  }
}

SentenceEncoder::Runner& SentenceEncoder::runner(std::size_t index) {
  Runner& runner = runners_[index];
  if (runner.stack) return runner;
  runner.stack = visit_layers(layers_, [&](const auto& layers) {
    return make_stack_at(index, layers, std::make_index_sequence<capacities.size()>{});
  });
  runner.x.resize(capacities[index] * model_width);
  runner.y.resize(capacities[index] * model_width);
  return runner;
}

}  // namespace minilm
