// Fuzzes LADON_DETERMINISTIC. For any inputs and weights, all variants of a kernel must give results with equal bits.
// The variants are a C kernel with DISPATCH (SSE2, AVX2 and AVX-512), and C++ code with plain arrays. Instruction sets
// that the machine lacks are skipped.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include <ladon/ladon.hpp>

#include "fuzz_cross.h"
#include "fuzz_text.h"
#include "random.hpp"
#include "support/change.hpp"
#include "support/require.hpp"

static_assert(LADON_DETERMINISTIC);

namespace {

using ladon::detail::vec::ArrayVectors;
using ladon_fuzz::change, ladon_fuzz::require, ladon_fuzz::Specials;
using Floats = std::vector<float>;

constexpr ladon_isa isas[] = {LADON_ISA_SSE2, LADON_ISA_AVX2, LADON_ISA_AVX512};

// Returns whether all values have equal bits. Any NaN is equal to any other NaN.
bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(a, b, [](float left, float right) {
    return std::isnan(left) ? std::isnan(right)
                            : std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
  });
}

struct Result {
  Floats y;
  Floats map;  // attention weights: rows with `keys` elements
  std::size_t keys = 1;
};

// Returns whether the attention weights of each query have equal bits in the results `a` and `b`. If a query sees a
// NaN, its weights may differ, but then each of its weights must be NaN or 0.
bool same_rows(const Result& a, const Result& b) {
  const auto is_nan = [](float weight) { return std::isnan(weight); };
  const auto is_lost = [](float weight) { return std::isnan(weight) || weight == 0; };
  for (std::size_t first = 0; first < a.map.size(); first += a.keys) {
    const auto row_a = std::span(a.map).subspan(first, a.keys), row_b = std::span(b.map).subspan(first, a.keys);
    const bool has_nan = std::ranges::any_of(row_a, is_nan) || std::ranges::any_of(row_b, is_nan);
    const bool both_lost = has_nan && std::ranges::all_of(row_a, is_lost) && std::ranges::all_of(row_b, is_lost);
    if (!both_lost && !same_bits(row_a, row_b)) return false;
  }
  return true;
}

void require_equal(const Result& result, const Result& expected) {
  require(same_bits(result.y, expected.y), "y has the same bits for every instruction set");
  require(same_rows(result, expected), "attention weights have the same bits for every instruction set");
}

// Returns `count` random floats. The fuzzer's input chooses the magnitude of the floats, and overwrites up to three
// floats with special numbers (change.hpp).
Floats any_floats(FuzzedDataProvider& data, ladon_test::Random& random, std::size_t count) {
  Floats values = random.normals(count);
  change(values, data, -40, 40, Specials::all);
  return values;
}

// Memory for a kernel's workspace or cache.
template <std::size_t Bytes>
struct Memory {
  alignas(64) unsigned char bytes[Bytes];
};

// Checks attention to a context with 270 keys, more than the 256 keys that attention computes at a time. The attention
// has a window, padding, a softcap and sinks.
struct Cross {
  static constexpr std::size_t queries = FUZZ_CROSS_QUERIES, keys = FUZZ_CROSS_KEYS, model = FUZZ_CROSS_MODEL;
  static constexpr std::size_t heads = FUZZ_CROSS_HEADS;
  struct Score : ladon::score::Scaled {
    static constexpr float softcap = 3;
    static constexpr bool sinks = true;
  };
  using Mask = decltype(ladon::mask::Window<40, 3>{} & ladon::mask::Padding{});
  template <class Vectors>
  using Attention =
      ladon::MultiHeadAttention<ladon::Shape{.queries = queries, .keys = keys, .model = model, .heads = heads}, Mask,
                                ladon::layout::SeparateQKV, Score, ladon::position::Unrotated, Vectors>;

  std::size_t active_queries, active_keys;
  std::ptrdiff_t offset;
  std::vector<std::uint8_t> padding;
  Floats x, context, sinks, weight[4], bias[4];

  explicit Cross(FuzzedDataProvider& data)
      : active_queries(data.ConsumeIntegralInRange<std::size_t>(1, queries)),
        active_keys(data.ConsumeIntegralInRange<std::size_t>(1, keys)),
        offset(data.ConsumeIntegralInRange<std::ptrdiff_t>(-12, 290)),
        padding(keys, 1) {
    ladon_test::Random random(data.ConsumeIntegral<std::uint8_t>());
    const auto hidden = data.ConsumeBytes<std::uint8_t>(data.ConsumeIntegralInRange<std::size_t>(0, 40));
    for (const std::uint8_t key : hidden) padding[key] = 0;
    x = any_floats(data, random, queries * model);
    context = any_floats(data, random, keys * model);
    sinks = any_floats(data, random, heads);
    for (Floats& values : weight) values = any_floats(data, random, model * model);
    for (Floats& values : bias) values = any_floats(data, random, model);
  }

  [[nodiscard]] Result empty() const { return {Floats(queries * model), Floats(heads * queries * keys), keys}; }

  template <class Vectors>
  [[nodiscard]] Result run() const {
    using Type = Attention<Vectors>;
    const typename Type::Weights weights{.query_proj = {weight[0].data(), bias[0].data()},
                                         .key_proj = {weight[1].data(), bias[1].data()},
                                         .value_proj = {weight[2].data(), bias[2].data()},
                                         .out_proj = {weight[3].data(), bias[3].data()}};
    typename Type::Options options{.queries = active_queries, .keys = active_keys};
    options.mask = {{.offset = offset}, {.may_see = padding.data()}};
    options.sinks = sinks.data();
    Result result = empty();
    const auto workspace = std::make_unique<typename Type::CrossWorkspace>();
    Type::run(x.data(), context.data(), weights, result.y.data(), *workspace, options,
              typename Type::Map(result.map.data()));
    return result;
  }

  void check(ladon_isa isa, const Result& expected) const {
    const fuzz_cross_weights weights{weight[0].data(), bias[0].data(), weight[1].data(), bias[1].data(),
                                     weight[2].data(), bias[2].data(), weight[3].data(), bias[3].data()};
    Result result = empty();
    fuzz_cross_options options{};
    options.queries = active_queries;
    options.keys = active_keys;
    options.offset = offset;
    options.padding = padding.data();
    options.sinks = sinks.data();
    options.attention = result.map.data();
    options.isa = isa;
    const auto workspace = std::make_unique<Memory<FUZZ_CROSS_WORKSPACE_BYTES>>();
    const ladon_status status =
        fuzz_cross_run_with(x.data(), context.data(), &weights, result.y.data(), workspace->bytes, &options);
    if (status == LADON_UNSUPPORTED_ISA) return;
    require(status == LADON_OK, "the kernel accepts the call");
    require_equal(result, expected);
  }

  void check() const {
    const Result expected = run<ArrayVectors<8>>();
    for (const ladon_isa isa : isas) check(isa, expected);
  }
};

// Checks an encoder layer with rotary embedding, GELU and a cache. Each call appends a part of a text to the cache.
struct GrowingText {
  static constexpr std::size_t queries = FUZZ_TEXT_QUERIES, keys = FUZZ_TEXT_KEYS, model = FUZZ_TEXT_MODEL;
  static constexpr std::size_t heads = FUZZ_TEXT_HEADS, hidden = FUZZ_TEXT_FEED_FORWARD;
  using Rotary = ladon::position::Rotary<ladon::Pairing::neighbours, 6, 32>;
  template <class Vectors>
  using Layer = ladon::EncoderLayer<ladon::Model{.tokens = queries,
                                                 .keys = keys,
                                                 .model = model,
                                                 .heads = heads,
                                                 .feed_forward = hidden,
                                                 .activation = ladon::Activation::gelu,
                                                 .norm = ladon::NormOrder::pre},
                                    ladon::mask::Causal, ladon::layout::InProj, ladon::score::Scaled, Rotary, Vectors>;
  static constexpr std::size_t sizes[] = {3 * model * model, 3 * model, model* model, model, hidden* model, hidden,
                                          model* hidden,     model,     model,        model, model,         model};

  std::vector<std::size_t> pieces;
  Floats x;
  std::vector<Floats> tensors;
  Rotary::Table table = ladon::rotary_table<32, 6>();

  explicit GrowingText(FuzzedDataProvider& data) {
    ladon_test::Random random(data.ConsumeIntegral<std::uint8_t>());
    std::size_t length = 0;
    for (int count = data.ConsumeIntegralInRange(1, 8); count > 0 && length < keys; --count) {
      pieces.push_back(data.ConsumeIntegralInRange<std::size_t>(1, std::min(queries, keys - length)));
      length += pieces.back();
    }
    x = any_floats(data, random, length * model);
    for (const std::size_t size : sizes) tensors.push_back(any_floats(data, random, size));
  }

  // Calls extend(x, tokens, y) for each part of the text. Returns all outputs y, and no attention weights, because a
  // layer with a cache returns none.
  template <class Extend>
  Result extend_all(Extend extend) const {
    Result result{Floats(x.size()), {}};
    std::size_t past = 0;
    for (const std::size_t tokens : pieces) {
      extend(x.data() + past * model, tokens, result.y.data() + past * model);
      past += tokens;
    }
    return result;
  }

  template <class Vectors>
  [[nodiscard]] Result run() const {
    using Type = Layer<Vectors>;
    const auto tensor = [&](std::size_t i) { return tensors[i].data(); };
    const typename Type::Weights weights{
        .attention = {.in_proj = {tensor(0), tensor(1)}, .out_proj = {tensor(2), tensor(3)}},
        .linear1 = {tensor(4), tensor(5)},
        .linear2 = {tensor(6), tensor(7)},
        .norm1 = {tensor(8), tensor(9)},
        .norm2 = {tensor(10), tensor(11)}};
    const auto cache = std::make_unique<typename Type::Cache>();
    const auto workspace = std::make_unique<typename Type::CachedWorkspace>();
    cache->clear();
    return extend_all([&](const float* from, std::size_t count, float* to) {
      Type::extend(from, *cache, weights, to, *workspace, {.tokens = count, .position = {.table = &table}});
    });
  }

  void check(ladon_isa isa, const Result& expected) const {
    fuzz_text_weights weights;
    std::vector<const float*> pointers;
    for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
    static_assert(sizeof(weights) == std::size(sizes) * sizeof(const float*));
    std::ranges::copy(pointers, reinterpret_cast<const float**>(&weights));
    const auto cache = std::make_unique<Memory<FUZZ_TEXT_CACHE_BYTES>>();
    const auto workspace = std::make_unique<Memory<FUZZ_TEXT_WORKSPACE_BYTES>>();
    require(fuzz_text_cache_clear(cache->bytes) == LADON_OK, "a cache can be cleared");
    const auto rotary = std::make_unique<fuzz_text_rotary_table>();
    require(fuzz_text_rotary_fill(rotary.get(), 10000, 1) == LADON_OK, "a rotary table can be filled");
    ladon_status status = LADON_OK;
    const Result result = extend_all([&](const float* from, std::size_t count, float* to) {
      fuzz_text_options options{};
      options.tokens = count;
      options.rotary = rotary.get();
      options.isa = isa;
      status = fuzz_text_extend(from, cache->bytes, &weights, to, workspace->bytes, &options);
    });
    if (status == LADON_UNSUPPORTED_ISA) return;
    require(status == LADON_OK, "the kernel accepts the calls");
    require_equal(result, expected);
  }

  void check() const {
    const Result expected = run<ArrayVectors<1>>();
    for (const ladon_isa isa : isas) check(isa, expected);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  if (data.ConsumeBool()) {
    Cross(data).check();
  } else {
    GrowingText(data).check();
  }
  return 0;
}
