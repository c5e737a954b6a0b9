// Tests NAME_run_phase and NAME_extend_phase, with which several threads can compute one call. A call consists of
// phases, and each phase is divided into shares. The tests compute the shares one after the other, and a kernel must
// give equal bits for any number of shares. With several tokens, the phases must give the bits of NAME_extend. For a
// single token, NAME_extend adds in another order, so the bits may differ. Also tests the scores that NAME_extend
// captures.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "c_decoder.h"
#include "c_grown.h"
#include "c_grown_stack.h"
#include "c_masked.h"
#include "decoder_kernel_subject.hpp"
#include "guarded_run.hpp"
#include "models.hpp"
#include "random.hpp"
#include "team.hpp"
#include "variation.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

constexpr std::size_t most_shares = 4;

template <std::size_t Bytes>
struct alignas(64) Memory {
  unsigned char bytes[Bytes];
};

// Random tensors, and C weights that point to these tensors.
template <class W>
struct Weights {
  std::vector<Floats> tensors;
  W weights{};
  Weights(Random& random, std::size_t largest) {
    std::vector<const float*> pointers;
    for (std::size_t i = 0; i < sizeof(W) / sizeof(const float*); ++i) tensors.push_back(random.normals(largest, 0.3));
    for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
    std::memcpy(&weights, pointers.data(), sizeof(weights));
  }
};

// The functions and sizes of a kernel that extends a text.
struct GrownKernel {
  using W = c_grown_weights;
  using O = c_grown_options;
  static constexpr std::size_t queries = C_GROWN_QUERIES, keys = C_GROWN_KEYS, model = C_GROWN_MODEL,
                               heads = C_GROWN_HEADS, layers = 1, phases = C_GROWN_PHASES, largest = model * model,
                               cache_bytes = C_GROWN_CACHE_BYTES,
                               workspace_bytes = C_GROWN_TEAM_WORKSPACE_BYTES(most_shares);
  static constexpr auto clear = c_grown_cache_clear;
  static constexpr auto length = c_grown_cache_length;
  static constexpr auto extend = c_grown_extend;
  static constexpr auto extend_phase = c_grown_extend_phase;
  static void receive(O& options, const std::array<float*, layers>& maps) { options.attention = maps[0]; }
};
struct GrownStack {
  using W = c_grown_stack_weights;
  using O = c_grown_stack_options;
  static constexpr std::size_t queries = C_GROWN_STACK_QUERIES, keys = C_GROWN_STACK_KEYS, model = C_GROWN_STACK_MODEL,
                               heads = C_GROWN_STACK_HEADS, layers = C_GROWN_STACK_LAYERS,
                               phases = C_GROWN_STACK_PHASES, largest = 3 * model * C_GROWN_STACK_FEED_FORWARD,
                               cache_bytes = C_GROWN_STACK_CACHE_BYTES,
                               workspace_bytes = C_GROWN_STACK_TEAM_WORKSPACE_BYTES(most_shares);
  static constexpr auto clear = c_grown_stack_cache_clear;
  static constexpr auto length = c_grown_stack_cache_length;
  static constexpr auto extend = c_grown_stack_extend;
  static constexpr auto extend_phase = c_grown_stack_extend_phase;
  static void receive(O& options, const std::array<float*, layers>& maps) {
    std::copy(maps.begin(), maps.end(), options.attention);
  }
};

// Extends a text by several calls. `pieces` holds the number of tokens of each call. If `Shares` is 0, calls
// NAME_extend. Otherwise, calls NAME_extend_phase for each phase, and divides the phase into `Shares` shares. Returns y
// and the captured arrays of all calls.
template <class Kernel, std::size_t Shares>
std::vector<Floats> grow(const typename Kernel::W& weights, typename Kernel::O options, const Floats& x,
                         const std::vector<std::size_t>& pieces) {
  const auto cache = std::make_unique<Memory<Kernel::cache_bytes>>();
  const auto workspace = std::make_unique<Memory<Kernel::workspace_bytes>>();
  std::vector<Floats> results;
  REQUIRE(Kernel::clear(cache->bytes) == LADON_OK);
  std::size_t past = 0;
  for (const std::size_t count : pieces) {
    options.tokens = count;
    std::array<float*, Kernel::layers> maps;
    std::vector<Floats> captured(Kernel::layers, Floats(Kernel::heads * Kernel::queries * Kernel::keys, poison()));
    for (std::size_t i = 0; i < Kernel::layers; ++i) maps[i] = captured[i].data();
    Kernel::receive(options, maps);
    std::memset(workspace.get(), 0xff, sizeof(*workspace));  // NaN
    Floats y(count * Kernel::model, poison());
    const float* const from = x.data() + past * Kernel::model;
    if constexpr (Shares == 0) {
      REQUIRE(Kernel::extend(from, cache->bytes, &weights, y.data(), workspace->bytes, &options) == LADON_OK);
    } else {
      InTurn<Shares>::drive(Kernel::phases, [&](std::size_t phase, ladon::Share share) {
        REQUIRE(Kernel::extend_phase(phase, share.index, share.count, from, cache->bytes, &weights, y.data(),
                                     workspace->bytes, &options) == LADON_OK);
      });
    }
    past += count;
    CHECK(Kernel::length(cache->bytes) == past);
    results.push_back(std::move(y));
    for (Floats& map : captured) results.push_back(std::move(map));
  }
  return results;
}

bool same(const std::vector<Floats>& a, const std::vector<Floats>& b) {
  return std::ranges::equal(a, b, [](const Floats& left, const Floats& right) { return same_bits(left, right); });
}

template <class Kernel>
void check_growing(typename Kernel::O options, const std::vector<std::size_t>& pieces) {
  Random random(8);
  const Weights<typename Kernel::W> weights(random, Kernel::largest);
  std::size_t tokens = 0;
  for (const std::size_t count : pieces) tokens += count;
  const Floats x = random.normals(tokens * Kernel::model);
  const auto one = grow<Kernel, 1>(weights.weights, options, x, pieces);
  CHECK(same(grow<Kernel, 2>(weights.weights, options, x, pieces), one));
  CHECK(same(grow<Kernel, most_shares>(weights.weights, options, x, pieces), one));
  if (std::ranges::find(pieces, 1u) == pieces.end()) {
    CHECK(same(grow<Kernel, 0>(weights.weights, options, x, pieces), one));
  }
}

// Computes a call of c_decoder phase by phase, with `Shares` shares in each phase.
template <std::size_t Shares>
ladon_status decoder_in_phases(const float* x, const float* memory, const c_decoder_weights* weights, float* y,
                               void* workspace, const c_decoder_options* options) {
  ladon_status first_error = LADON_OK;
  InTurn<Shares>::drive(C_DECODER_PHASES, [&](std::size_t phase, ladon::Share share) {
    const ladon_status status =
        c_decoder_run_phase(phase, share.index, share.count, x, memory, weights, y, workspace, options);
    if (first_error == LADON_OK) first_error = status;
  });
  return first_error;
}

constexpr S decoder_shape{.queries = C_DECODER_QUERIES, .model = C_DECODER_MODEL, .heads = C_DECODER_HEADS};

template <std::size_t Shares>
void check_decoder_in_phases() {
  CAPTURE(Shares);
  const auto subject_of = []<std::size_t Bytes, auto Run>() {
    return c_decoder_subject<decoder_shape, C_DECODER_MEMORY, Bytes, c_decoder_weights, c_decoder_options, Run>(
        C_DECODER_LAYERS);
  };
  const Subject whole = subject_of.template operator()<C_DECODER_WORKSPACE_BYTES, c_decoder_run_with>();
  const Subject parts =
      subject_of.template operator()<C_DECODER_TEAM_WORKSPACE_BYTES(Shares), decoder_in_phases<Shares>>();
  const DecoderForm form{.layers = C_DECODER_LAYERS,
                         .layer = {.feed_forward = 8, .norm = ladon::NormOrder::pre, .norm_kind = ladon::NormKind::rms},
                         .final_norm = true,
                         .self_causal = true};
  const Task task = task_of(whole, random_decoder(whole.shape, form, 4), {}, {});
  const Outcome expected = run_guarded(whole, task), actual = run_guarded(parts, task);
  CHECK(same_bits(actual.y, expected.y));
  for (std::size_t i = 0; i < expected.maps.size(); ++i) CHECK(same_bits(actual.maps[i], expected.maps[i]));
}

}  // namespace

TEST_CASE("a decoder in phases gives the bits of one call") {
  check_decoder_in_phases<1>();
  check_decoder_in_phases<3>();
}

TEST_CASE("a growing text in phases: attention with a ring and rotary embedding") {
  static c_grown_rotary_table table;
  REQUIRE(c_grown_rotary_fill(&table, 10000, 1) == LADON_OK);
  c_grown_options options{};
  options.rotary = &table;
  check_growing<GrownKernel>(options, {4, 3, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
  check_growing<GrownKernel>(options, {1, 4, 1, 1, 2});
}

TEST_CASE("a growing text in phases: a stack that captures the scores of each layer") {
  check_growing<GrownStack>({}, {3, 2, 3, 2});
  check_growing<GrownStack>({}, {1, 3, 1});
}

TEST_CASE("a stack with an int8 cache: the scores that it captures while its text grows are those of the C++ type") {
  constexpr S shape{.queries = 3, .keys = 10, .model = 8, .heads = 2, .cache_precision = ladon::CachePrecision::int8};
  using Stack =
      ladon::Encoder<stack_of(ladon::Model{.feed_forward = 12}, shape, C_GROWN_STACK_LAYERS), ladon::mask::Causal>;
  Random random(8);
  const Weights<c_grown_stack_weights> weights(random, GrownStack::largest);
  std::vector<const float*> pointers;
  for (const Floats& tensor : weights.tensors) pointers.push_back(tensor.data());
  const float* const* next = pointers.data();
  Stack::Weights same_weights;
  for (auto& layer : same_weights.layers) point(layer, next);
  const Floats x = random.normals(10 * 8);
  const std::vector<std::size_t> pieces{3, 1, 3, 3};
  const auto results = grow<GrownStack, 0>(weights.weights, {}, x, pieces);
  const auto caches = std::make_unique<Stack::Caches>();
  CHECK(C_GROWN_STACK_CACHE_BYTES <= sizeof(*caches) + 64);
  const auto workspace = std::make_unique<Stack::CachedWorkspace>();
  std::size_t past = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Floats y(pieces[i] * 8);
    std::vector<Floats> captured(2, Floats(2 * 3 * 10, poison()));
    Stack::extend(x.data() + past * 8, *caches, same_weights, y.data(), *workspace, {.tokens = pieces[i]},
                  Stack::Captures<ladon::Stage::scaled>{{{captured[0].data()}, {captured[1].data()}}});
    past += pieces[i];
    CHECK(same_bits(results[3 * i], y));
    CHECK(same_bits(results[3 * i + 1], captured[0]));
    CHECK(same_bits(results[3 * i + 2], captured[1]));
  }
}

TEST_CASE("extend_phase returns a status for wrong arguments") {
  Random random(8);
  const Weights<c_grown_stack_weights> weights(random, GrownStack::largest);
  static Memory<C_GROWN_STACK_CACHE_BYTES> cache;
  static Memory<GrownStack::workspace_bytes> workspace;
  Floats y(3 * 8);
  const auto extend = [&](std::size_t phase, std::size_t share, std::size_t shares, float* to) {
    return c_grown_stack_extend_phase(phase, share, shares, y.data(), cache.bytes, &weights.weights, to,
                                      workspace.bytes, nullptr);
  };
  CHECK(extend(0, 0, 1, y.data()) == LADON_CACHE_NOT_CLEARED);
  REQUIRE(c_grown_stack_cache_clear(cache.bytes) == LADON_OK);
  CHECK(extend(C_GROWN_STACK_PHASES, 0, 1, y.data()) == LADON_NO_SUCH_PHASE);
  CHECK(extend(0, 1, 1, y.data()) == LADON_NO_SUCH_PHASE);
  CHECK(extend(0, 0, SIZE_MAX, y.data()) == LADON_NO_SUCH_PHASE);
  CHECK(extend(0, 0, 1, nullptr) == LADON_NULL_OUTPUT);
  // `behind_one` lies directly behind the workspace for one share. The workspace for two shares is larger and contains
  // this address. So with y = behind_one, y overlaps the workspace of a call with two shares, but not the workspace of
  // a call with one share.
  auto* const behind_one = reinterpret_cast<float*>(workspace.bytes + C_GROWN_STACK_TEAM_WORKSPACE_BYTES(1));
  CHECK(extend(0, 0, 2, behind_one) == LADON_OVERLAP);
  CHECK(extend(0, 0, 1, behind_one) == LADON_OK);
}

// A program can forget a phase, compute one twice, or stop in the middle of a call. A stack counts the new tokens layer
// by layer, so that an unfinished call leaves layers of different lengths.
TEST_CASE("extend_phase refuses phases out of order, and an unfinished call leaves no trace") {
  constexpr std::size_t phases = GrownStack::phases, tokens = 3, model = GrownStack::model;
  Random random(9);
  const Weights<c_grown_stack_weights> weights(random, GrownStack::largest);
  const Floats x = random.normals(GrownStack::queries * model);
  static Memory<C_GROWN_STACK_CACHE_BYTES> cache;
  static Memory<GrownStack::workspace_bytes> workspace;
  c_grown_stack_options options{};
  options.tokens = tokens;
  Floats y(tokens * model, 1.0f);
  const Floats untouched = y;
  const auto phase = [&](std::size_t index, std::size_t share = 0, std::size_t shares = 1) {
    return c_grown_stack_extend_phase(index, share, shares, x.data(), cache.bytes, &weights.weights, y.data(),
                                      workspace.bytes, &options);
  };
  const auto whole = [&] {
    return c_grown_stack_extend(x.data(), cache.bytes, &weights.weights, y.data(), workspace.bytes, &options);
  };
  const auto clear = [&] {
    std::memset(&cache, 0x5a, sizeof(cache));
    REQUIRE(c_grown_stack_cache_clear(cache.bytes) == LADON_OK);
  };
  std::memset(&workspace, 0xff, sizeof(workspace));

  clear();
  for (std::size_t p = 1; p < phases; ++p) {
    CHECK(phase(p) == LADON_PHASE_OUT_OF_ORDER);
    CHECK(phase(p, 1, 2) == LADON_PHASE_OUT_OF_ORDER);
  }
  CHECK(same_bits(y, untouched));
  REQUIRE(whole() == LADON_OK);
  const Floats first = y;
  REQUIRE(whole() == LADON_OK);
  const Floats second = y;

  for (std::size_t stop = 0; stop <= phases; ++stop) {
    CAPTURE(stop);
    clear();
    REQUIRE(whole() == LADON_OK);
    for (std::size_t p = 0; p < stop; ++p) REQUIRE(phase(p) == LADON_OK);
    for (std::size_t p = 1; p < phases; ++p) {
      if (p != stop) CHECK(phase(p) == LADON_PHASE_OUT_OF_ORDER);
    }
    if (stop == phases) {
      CHECK(same_bits(y, second));
      continue;
    }
    CHECK(c_grown_stack_cache_length(cache.bytes) == tokens);
    if (stop % 2 == 0) {
      REQUIRE(whole() == LADON_OK);
    } else {
      for (std::size_t p = 0; p < phases; ++p) REQUIRE(phase(p) == LADON_OK);
    }
    CHECK(same_bits(y, second));
  }

  clear();
  for (std::size_t p = 0; p + 1 < phases; ++p) REQUIRE(phase(p) == LADON_OK);
  static Memory<C_GROWN_STACK_CACHE_BYTES> moved;
  std::memcpy(&moved, &cache, sizeof(cache));
  std::memset(&cache, 0x5a, sizeof(cache));
  CHECK(phase(phases - 1) == LADON_PHASE_OUT_OF_ORDER);
  std::memcpy(&cache, &moved, sizeof(cache));
  CHECK(phase(phases - 1) == LADON_OK);
  CHECK(same_bits(y, first));
}

}  // namespace ladon_test
