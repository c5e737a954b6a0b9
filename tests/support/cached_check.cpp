#include "cached_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include "guarded.hpp"

namespace ladon_test {

namespace {

// Returns a Subject with the members of a CachedSubject that the oracle needs: sizes, layout of the weights, mask and
// score.
Subject as_subject(const CachedSubject& cached) {
  Subject subject{};
  subject.shape = cached.shape;
  subject.layout = cached.layout;
  subject.mask = cached.mask;
  subject.score = cached.score;
  subject.norms = cached.norms;
  return subject;
}

// Describes one call, which appends `tokens` tokens of the text after `past` earlier tokens.
struct Piece {
  std::size_t past, tokens;
  Variation variation;
};

struct ExpectedStep {
  Expected y;    // [tokens][model]
  Expected map;  // [heads][queries][capacity], with the queries of the call's shape
};

struct Step {
  std::size_t queries;  // the queries of the call's shape
  Floats y, map;
};

// Appends the pieces of a text to one cache, with one call for each piece. All inputs are in guarded memory
// (guarded.hpp). All outputs are filled with NaN before each call.
class Feeder {
 public:
  Feeder(const CachedSubject& subject, const CachedProblem& text, Edge edge)
      : subject_(subject), text_(text), edge_(edge), cache_(subject.cache_bytes / sizeof(float), edge) {
    std::ranges::fill(cache_.values(), poison());
    subject.clear(cache_.data());
    std::vector<Floats> tensors;
    append_tensors(tensors, subject.layout, subject.shape, text.weights);
    for (const Floats& tensor : tensors) weights_.emplace_back(std::span(tensor), edge);
  }

  Step feed(const Piece& piece, bool by_one, bool with_map) {
    const ladon::Shape& shape = subject_.shape;
    const bool one = by_one && piece.tokens == 1;
    const std::size_t queries = one ? 1 : shape.queries;
    const std::size_t room = edge_ == Edge::end ? piece.tokens : queries;  // the call must not access y beyond `room`
    const Guarded<float> x(std::span(text_.x).subspan(piece.past * shape.model, piece.tokens * shape.model), edge_);
    const Guarded<float> y(room * shape.model, edge_), map(shape.heads * queries * shape.keys, edge_);
    const std::size_t bytes = one ? subject_.one_workspace_bytes : subject_.workspace_bytes;
    const Guarded<float> workspace(bytes / sizeof(float), edge_);
    const std::vector<std::uint32_t> bits = to_bits(shape, piece.variation.pairs);
    for (const Guarded<float>* buffer : {&y, &map, &workspace}) std::ranges::fill(buffer->values(), poison());
    std::vector<const float*> weights;
    for (const Guarded<float>& weight : weights_) weights.push_back(weight.data());
    float* const maps[] = {map.data()};
    Call call{piece.variation.lengths};
    call.offset = bottom_right;  // the default: the first query follows the tokens in the cache
    call.queries = call.keys = ladon::all;
    call.tokens = piece.tokens == queries ? ladon::all : piece.tokens;
    call.x = x.data();
    call.y = y.data();
    call.weights = weights.data();
    call.workspace = workspace.data();
    call.maps = with_map ? maps : nullptr;
    const auto given = [](const auto& values) { return values.empty() ? nullptr : values.data(); };
    call.may_see = given(piece.variation.may_see);
    call.bits = given(bits);
    call.pairs = given(piece.variation.pairs);
    call.values = given(piece.variation.values);
    call.slopes = given(piece.variation.slopes);
    call.sinks = given(piece.variation.sinks);
    (one ? subject_.extend_by_one : subject_.extend)(call, cache_.data());
    CHECK_MESSAGE((x.intact() && y.intact() && map.intact() && workspace.intact() && cache_.intact()),
                  "a guard byte has been overwritten");
    Floats out(y.data(), y.data() + y.size());
    CHECK(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(piece.tokens * shape.model), out.end(), is_poison));
    out.resize(piece.tokens * shape.model);
    return {queries, std::move(out), Floats(map.data(), map.data() + map.size())};
  }

  const float* cache() const { return cache_.data(); }

 private:
  const CachedSubject& subject_;
  const CachedProblem& text_;
  Edge edge_;
  Guarded<float> cache_;
  std::vector<Guarded<float>> weights_;
};

// Returns the expected attention weights of a call. The cache stores token k in slot k % shape.keys, so the weight of
// token k is in column k % shape.keys.
Expected map_in_cache(const CachedSubject& subject, const std::vector<oracle::Matrix>& weights, std::size_t queries) {
  const ladon::Shape& shape = subject.shape;
  Expected map(shape.heads * queries * shape.keys);
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t q = 0; q < weights[h].rows; ++q) {
      const auto row = std::span(map).subspan((h * queries + q) * shape.keys, shape.keys);
      const bool lost = sees_nan(weights[h], q);
      std::ranges::fill(row, lost ? any_weight() : Real(0));
      if (lost) continue;
      for (std::size_t k = 0; k < weights[h].columns; ++k) {
        if (weights[h](q, k).deviation != 0) row[k % shape.keys] = weights[h](q, k);
      }
    }
  }
  return map;
}

Piece random_piece(const CachedSubject& cached, std::size_t past, std::size_t tokens) {
  const Subject subject = as_subject(cached);
  const ladon::Shape& shape = cached.shape;
  Piece piece{past, tokens, {}};
  fill_at_random(subject, piece.variation, past);
  piece.variation.lengths.rotary_offset = 2;  // equal for all pieces: cached keys keep their rotation
  if (cached.mask.padding) {
    piece.variation.may_see.assign(shape.keys, 1);
    for (std::size_t k = 2; k < shape.keys; k += 5) piece.variation.may_see[k] = 0;
  }
  return piece;
}

// Returns the largest rounding error that a cache of this precision may make when it stores `feature`, a feature of a
// key or value in one head. `features` holds all features of the key or value before rounding.
double rounding_error(ladon::CachePrecision precision, std::span<const Real> features, Real feature) {
  if (precision == ladon::CachePrecision::bfloat16) return std::abs(feature.value) * 0x1p-8 + 0x1p-133;
  double largest = 0;
  for (const Real& x : features) largest = std::max(largest, std::abs(x.value) + x.bound());
  return largest / 127 / 2 * (1 + 0x1p-16) + 0x1p-119;  // features below 2^-119 may become 0
}

// Reads the numbers that the cache stores for the new tokens of a call, and compares these numbers with `exact`. Then
// appends the numbers of the cache to `stored`. The oracle then allows the error of one float32 rounding for each of
// these numbers, because the library multiplies the integers of an int8 cache by a scale, and rounds the product.
void append_stored(const CachedSubject& subject, const Piece& piece, const float* cache, const oracle::Stored& exact,
                   oracle::Stored& stored) {
  const ladon::Shape& shape = subject.shape;
  std::vector<double> keys(shape.key_rows()), values(shape.value_rows());
  const auto append = [&](const std::vector<double>& numbers, const oracle::Matrix& wanted, std::size_t token,
                          std::size_t width, oracle::Matrix& to) {
    double worst = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::span<const Real> row = std::span(wanted.data).subspan(token * wanted.columns, wanted.columns);
      const Real feature = row[i];
      const double error =
          rounding_error(shape.cache_precision, row.subspan(i / width * width, width), feature) + feature.bound();
      worst = std::max(worst, std::abs(numbers[i] - feature.value) / error);
      to.data.push_back(rounded(numbers[i]));
    }
    CHECK(worst <= 1);
    to.rows += 1;
    to.columns = numbers.size();
  };
  for (std::size_t t = piece.past; t < piece.past + piece.tokens; ++t) {
    subject.read(cache, t, keys.data(), values.data());
    append(keys, exact.keys, t, shape.head_width, stored.keys);
    append(values, exact.values, t, shape.value_width, stored.values);
  }
}

// Returns the expected results of the call that appends `piece`. `cache` is the cache after the call. If the cache
// rounds, `stored` holds the rounded keys and values of all tokens of the text.
ExpectedStep expected_step(const CachedSubject& cached, const CachedProblem& text, const Piece& piece, bool one,
                           const float* cache, oracle::Stored& stored) {
  const Subject subject = as_subject(cached);
  const ladon::Shape& shape = cached.shape;
  Variation asked = piece.variation;
  asked.lengths.queries = piece.tokens;
  asked.lengths.keys = piece.past + piece.tokens;
  asked.lengths.offset = asked.past = static_cast<std::ptrdiff_t>(piece.past);
  oracle::Heads heads = heads_of(subject, asked);
  heads.score.rotary.first_query += piece.past;
  const oracle::Matrix all(piece.past + piece.tokens, shape.model, text.x.data());
  const oracle::Matrix x(piece.tokens, shape.model, text.x.data() + piece.past * shape.model);
  const auto attended = [&] {
    const auto may_see = mask_of(subject, asked);
    if (shape.cache_precision == ladon::CachePrecision::float32) {
      return oracle::multi_head_attention(x, all, text.weights, heads, may_see);
    }
    append_stored(cached, piece, cache, oracle::project_keys(all, text.weights, heads), stored);
    return oracle::attend_stored(x, stored, text.weights, heads, may_see);
  }();
  return {Expected(attended.out.data.begin(), attended.out.data.end()),
          map_in_cache(cached, attended.weights, one ? 1 : shape.queries)};
}

std::size_t length_of(const Cut& cut) { return std::accumulate(cut.pieces.begin(), cut.pieces.end(), std::size_t(0)); }

void check_cut(const CachedSubject& subject, const CachedProblem& text, const Cut& cut) {
  Feeder plain(subject, text, Edge::begin), mapped(subject, text, Edge::end);
  const bool has_maps = subject.maps == Maps::with;
  std::size_t past = 0;
  oracle::Stored stored;
  for (const std::size_t tokens : cut.pieces) {
    CAPTURE(past);
    CAPTURE(tokens);
    const bool one = cut.by_one && tokens == 1;
    const Piece piece = random_piece(subject, past, tokens);
    const Step step = plain.feed(piece, cut.by_one, false), with_map = mapped.feed(piece, cut.by_one, has_maps);
    const ExpectedStep expected = expected_step(subject, text, piece, one, plain.cache(), stored);
    CHECK(worst_distance(step.y, expected.y) <= 1);
    CHECK_MESSAGE(same_bits(step.y, with_map.y), "asking for the map changed y");
    if (has_maps) CHECK(worst_distance(with_map.map, expected.map) <= 1);
    past += tokens;
  }
}

}  // namespace

CachedProblem random_cached(const CachedSubject& subject, std::size_t tokens, std::uint64_t seed) {
  Random random(seed * 77 + subject.shape.keys);
  CachedProblem text{random_attention(random, subject.shape), random.normals(tokens * subject.shape.model)};
  add_norms(random, text.weights, subject.shape, subject.norms);
  if (subject.activation_bits != 0) quantise(text.weights, subject.activation_bits);
  return text;
}

void check_cached(const CachedSubject& subject, const CachedProblem& text, const Cut& cut) {
  std::string pieces = cut.by_one ? "cut" : "cut, never by one";
  for (const std::size_t tokens : cut.pieces) pieces.append(" ").append(std::to_string(tokens));
  const std::string description = to_string(as_subject(subject), {});
  INFO(description);
  INFO(pieces);
  check_cut(subject, text, cut);
}

void check_cached(const CachedSubject& subject, const std::vector<Cut>& cuts) {
  for (const Cut& cut : cuts) check_cached(subject, random_cached(subject, length_of(cut), 1), cut);
}

Floats run_cached(const CachedSubject& subject, const Cut& cut, std::uint64_t seed) {
  const CachedProblem text = random_cached(subject, length_of(cut), seed);
  Feeder feeder(subject, text, Edge::begin);
  Floats all;
  std::size_t past = 0;
  for (const std::size_t tokens : cut.pieces) {
    const Floats y = feeder.feed({past, tokens, {}}, cut.by_one, false).y;
    all.insert(all.end(), y.begin(), y.end());
    past += tokens;
  }
  return all;
}

}  // namespace ladon_test
