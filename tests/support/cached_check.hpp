// Checks `extend`, the attention to a growing text. A text is cut into pieces. Each call appends one piece to a cache.
// The oracle computes the whole text so far. For every cut of the text, the results of each call must agree with the
// oracle within the bound (bound.hpp).
//
// A bfloat16 or int8 cache rounds the keys and values. The check first compares each stored number with the oracle's:
// the difference must be at most the largest rounding error. The oracle then computes attention to the stored numbers.
// The bound of the results therefore does not contain the rounding errors of the cache.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "attention_check.hpp"
#include "attention_subject.hpp"

namespace ladon_test {

// Two instantiations of attention that use the same cache. `extend` calls the instantiation for up to shape.queries
// tokens. extend_by_one calls the instantiation for a single token.
struct CachedSubject {
  ladon::Shape shape;  // complete; the keys are the capacity of the cache
  WeightLayout layout;
  MaskForm mask;
  ScoreForm score;
  bool ring;  // the cache keeps only the latest tokens
  std::size_t cache_bytes;
  std::size_t workspace_bytes, one_workspace_bytes;
  void (*clear)(void* cache);
  void (*extend)(const Call&, void* cache);
  void (*extend_by_one)(const Call&, void* cache);
  int activation_bits = 0;  // not 0: an argument of `quantise` (weights.hpp)
  // Reads the key and the value of a token of the text, for all heads. `keys` is [kv_heads][head_width], and `values`
  // is [kv_heads][value_width]. The token must still be in the cache.
  void (*read)(const void* cache, std::size_t token, double* keys, double* values) = nullptr;
  ladon::QueryKeyNormKind norms{};
  Maps maps = Maps::with;
};

// Divides a text into calls. `pieces` has the number of tokens of each call, and the sum of these numbers is the length
// of the text. If `by_one` is true, calls with one token use the instantiation for a single token.
struct Cut {
  std::vector<std::size_t> pieces;
  bool by_one = true;
};

void check_cached(const CachedSubject& subject, const std::vector<Cut>& cuts);

// The tokens of a text, and the weights of the attention.
struct CachedProblem {
  oracle::AttentionWeights weights;
  Floats x;  // [tokens][model]
};
CachedProblem random_cached(const CachedSubject& subject, std::size_t tokens, std::uint64_t seed);

// Runs cached attention on `text`, divided into calls as `cut` says, and compares the outputs with the oracle.
// Precondition: the lengths in cut.pieces add up to the number of tokens of the text.
void check_cached(const CachedSubject& subject, const CachedProblem& text, const Cut& cut);

// Returns the outputs [tokens][model] for a random text that is divided into the calls of `cut`. Does not compare the
// outputs with the oracle.
Floats run_cached(const CachedSubject& subject, const Cut& cut, std::uint64_t seed = 1);

template <class Attention, class Mask, class Position, Captures C>
void extend(const Call& call, void* cache) {
  typename Attention::Weights weights;
  const float* const* next = call.weights;
  point(weights, next);
  auto options = options_of<Attention, Mask>(call);
  set_position<Position>(options, call);
  auto& workspace = *static_cast<typename Attention::CachedWorkspace*>(call.workspace);
  run_capturing<Attention, C>(call, [&](auto... where) {
    Attention::extend(call.x, *static_cast<typename Attention::Cache*>(cache), weights, call.y, workspace, options,
                      where...);
  });
}

// Implements CachedSubject::read for a cache of type Cache.
template <class Cache>
void read_cache(const void* from, std::size_t token, double* keys, double* values) {
  const auto& cache = *static_cast<const Cache*>(from);
  const std::size_t slot = token % Cache::capacity;
  constexpr std::size_t width = Cache::panel_layout.width();
  const auto read = [&](const auto& panels, std::size_t features, double* to) {
    for (std::size_t i = 0; i < features; ++i) {
      const auto& element = panels.data[(slot / width * features + i) * width + slot % width];
      if constexpr (requires { panels.scale; }) {
        to[i] = static_cast<double>(element) * static_cast<double>(panels.scale[slot]);
      } else {
        to[i] = static_cast<double>(ladon::to_float(element));
      }
    }
  };
  for (const auto& head : cache.keys) {
    constexpr std::size_t features = Cache::head_width;
    read(head, features, keys + static_cast<std::size_t>(&head - cache.keys) * features);
  }
  for (const auto& head : cache.values) {
    constexpr std::size_t features = Cache::value_width;
    read(head, features, values + static_cast<std::size_t>(&head - cache.values) * features);
  }
}

constexpr ladon::Shape for_one(ladon::Shape shape) {
  if (shape.keys == 0) shape.keys = shape.queries;
  shape.queries = 1;
  return shape;
}

template <ladon::Shape S, class Mask, class Score = ladon::score::Scaled, class Position = ladon::position::Unrotated,
          class Layout = ladon::layout::InProj, Maps M = Maps::with>
CachedSubject cached_subject() {
  using Many = ladon::MultiHeadAttention<S, Mask, Layout, Score, Position>;
  using One = ladon::MultiHeadAttention<for_one(S), Mask, Layout, Score, Position>;
  static_assert(std::is_same_v<typename Many::Cache, typename One::Cache>);
  constexpr Captures captures = M == Maps::with ? Captures::weights : Captures::none;
  ScoreForm score = score_form<Many::shape, Score, Position>();
  score.rotary.first_query = 0;
  return {Many::shape,
          weight_layout<Layout>,
          MaskOf<Mask>::form,
          score,
          Many::Cache::ring,
          sizeof(typename Many::Cache),
          sizeof(typename Many::CachedWorkspace),
          sizeof(typename One::CachedWorkspace),
          [](void* cache) { static_cast<typename Many::Cache*>(cache)->clear(); },
          extend<Many, Mask, Position, captures>,
          extend<One, Mask, Position, captures>,
          activation_bits<typename Layout::Precision>,
          read_cache<typename Many::Cache>,
          Layout::Norms::kind,
          M};
}

}  // namespace ladon_test
