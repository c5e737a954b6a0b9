// ladon_bench_decode [--json FILE] [--only TEXT] [--precision P] [--rounds N]: measures decoding one token at a time
// with a full cache of keys and values, and a few queries of Attention, whose keys and values the caller has. Compares
// the speed with plain loads of the same weights, keys and values (plain_read.hpp). In some cases, all weights, keys
// and values fit into the processor's caches. In the other cases, the weights, keys and values do not fit.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "decode_memory.hpp"
#include "json_file.hpp"
#include "machine.hpp"
#include "rounds.hpp"

namespace {

using namespace ladon;
using bench::now, bench::quantile, bench::quiet, ladon_bench::DecodeMemory;

struct Chosen {
  std::string json, only, precision = "float32";
  int rounds = 31;
};

struct Round {
  double step, read, one_place;  // seconds of the step, of a read at four places, and of a read at one place
  bool disturbed;
};

template <class Step>
Round one_round(const bench::Parts& parts, std::size_t repeats, Step& step) {
  const bool alone = quiet().now_quiet();
  const double one_place = bench::plain_read<1>(parts, repeats);
  const double before = bench::plain_read<4>(parts, repeats);
  const double start = now();
  for (std::size_t r = 0; r < repeats; ++r) step();
  const double seconds = (now() - start) / static_cast<double>(repeats);
  const double after = bench::plain_read<4>(parts, repeats);
  return {seconds, (before + after) / 2, one_place, !alone || !quiet().now_quiet()};
}

// Measures decoding in rounds. measure() in support/rounds.hpp compares the speed with the FMA peak, but this function
// compares it with the rate of plain loads of `parts`, the weights and caches.
template <class Step>
nlohmann::ordered_json measure(const std::string& name, const bench::Parts& parts, int rounds, Step step) {
  constexpr double patience = 10;  // seconds for all rounds
  step();                          // maps the pages and warms the caches
  const auto repeats = std::max<std::size_t>(1, static_cast<std::size_t>(3e-4 / bench::plain_read<4>(parts, 1)));
  const double end = now() + patience;
  std::vector<double> shares, shares_of_one, steps, reads;
  double disturbed = 0;
  for (int i = 0; i < rounds; ++i) {
    Round round = one_round(parts, repeats, step);
    while (round.disturbed && quiet().wait(end - now())) round = one_round(parts, repeats, step);
    disturbed += round.disturbed;
    shares.push_back(round.read / round.step);
    shares_of_one.push_back(round.one_place / round.step);
    steps.push_back(round.step);
    reads.push_back(round.read);
  }
  const double bytes = static_cast<double>(bench::bytes_of(parts));
  const nlohmann::ordered_json row{{"name", name},
                                   {"bytes", bench::bytes_of(parts)},
                                   {"share_of_read", quantile(shares, 0.5)},
                                   {"lower_quartile", quantile(shares, 0.25)},
                                   {"upper_quartile", quantile(shares, 0.75)},
                                   {"share_of_one_place", quantile(shares_of_one, 0.5)},
                                   {"read_gigabytes_a_second", bytes / quantile(reads, 0.5) * 1e-9},
                                   {"seconds_a_token", quantile(steps, 0.5)},
                                   {"disturbed", disturbed / static_cast<double>(shares.size())}};
  std::printf("%-52s %7.2f MB %6.1f%% %6.1f%% %6.1f%% %6.1f%% %7.1f GB/s %9.1f us %4.0f%%\n", name.c_str(),
              bytes * 1e-6, 100 * quantile(shares, 0.5), 100 * quantile(shares, 0.25), 100 * quantile(shares, 0.75),
              100 * quantile(shares_of_one, 0.5), bytes / quantile(reads, 0.5) * 1e-9, 1e6 * quantile(steps, 0.5),
              100 * disturbed / static_cast<double>(shares.size()));
  std::fflush(stdout);
  return row;
}

class Table {
 public:
  explicit Table(const Chosen& chosen) : chosen_(chosen) {
    std::printf("%s\n\n%-52s %10s %7s %15s %7s %12s %12s %5s\n", ladon_bench::machine().dump().c_str(), "", "",
                "of read", "quartiles", "of one", "read", "a token", "dist.");
  }

  template <std::size_t Layers, Shape S, class Layout = layout::InProj>
  void attention(const std::string& name) {
    using Attention = MultiHeadAttention<S, mask::Causal, Layout>;
    if (!wanted(name)) return;
    DecodeMemory memory;
    std::array<typename Attention::Weights, Layers> weights;
    const auto caches = std::make_unique<std::array<typename Attention::Cache, Layers>>();
    for (std::size_t i = 0; i < Layers; ++i) memory.make_attention(weights[i], (*caches)[i]);
    const auto workspace = std::make_unique<typename Attention::CachedWorkspace>();
    run<S>(name, memory, [&](const float* x, float* y) {
      for (std::size_t i = 0; i < Layers; ++i) {
        Attention::extend(i == 0 ? x : y, (*caches)[i], weights[i], y, *workspace);
        (*caches)[i].length -= 1;  // the next step overwrites the token
      }
    });
  }

  template <Model M, class Layout = layout::InProj>
  void encoder(const std::string& name) {
    using Stack = Encoder<M, mask::Causal, Layout>;
    if (!wanted(name)) return;
    DecodeMemory memory;
    typename Stack::Weights weights;
    const auto caches = std::make_unique<typename Stack::Caches>();
    for (std::size_t i = 0; i < M.layers; ++i) memory.make_layer(weights.layers[i], (*caches)[i]);
    const auto workspace = std::make_unique<typename Stack::CachedWorkspace>();
    run<M.sizes()>(name, memory, [&](const float* x, float* y) {
      Stack::extend(x, *caches, weights, y, *workspace);
      for (auto& cache : *caches) cache.length -= 1;
    });
  }

  // Attention without projections.
  template <Shape S>
  void given(const std::string& name) {
    using Given = Attention<S>;
    constexpr Shape shape = Given::shape;  // with the widths of a head
    if (!wanted(name)) return;
    const std::vector<float> q = ladon_bench::random_numbers(shape.heads * shape.queries * shape.head_width, 1);
    const std::vector<float> k = ladon_bench::random_numbers(shape.kv_heads * shape.keys * shape.head_width, 1);
    const std::vector<float> v = ladon_bench::random_numbers(shape.kv_heads * shape.keys * shape.value_width, 1);
    std::vector<float> y(shape.heads * shape.queries * shape.value_width);
    const auto workspace = std::make_unique<typename Given::Workspace>();
    rows.push_back(measure(name, {k, v}, chosen_.rounds, [&] {
      Given::run(q.data(), k.data(), v.data(), y.data(), *workspace);
      benchmark::DoNotOptimize(y.data());
      benchmark::ClobberMemory();
    }));
  }

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();

 private:
  bool wanted(const std::string& name) const { return name.find(chosen_.only) != std::string::npos; }

  template <Shape S, class Step>
  void run(const std::string& name, const DecodeMemory& memory, Step step) {
    const std::vector<float> x = ladon_bench::random_numbers(S.model, 1);
    std::vector<float> y(S.model);
    rows.push_back(measure(name, memory.parts(), chosen_.rounds, [&] {
      step(x.data(), y.data());
      benchmark::DoNotOptimize(y.data());
      benchmark::ClobberMemory();
    }));
  }

  const Chosen& chosen_;
};

constexpr Shape small{.queries = 1, .keys = 256, .model = 128, .heads = 4};
constexpr Shape medium{.queries = 1, .keys = 1024, .model = 512, .heads = 8};
constexpr Shape large{.queries = 1, .keys = 1024, .model = 1024, .heads = 16};
constexpr Shape grouped{.queries = 1, .keys = 1024, .model = 1024, .heads = 16, .kv_heads = 4};

constexpr Shape with_cache(Shape shape, CachePrecision precision) {
  shape.cache_precision = precision;
  return shape;
}

constexpr Shape with_queries(Shape shape, std::size_t queries) {
  shape.queries = queries;
  return shape;
}

constexpr Model with_layers(Model model, std::size_t layers) {
  model.layers = layers;
  return model;
}

template <class Precision>
void measure_all(Table& table) {
  constexpr Model plain{.layers = 6, .feed_forward = 2048};
  constexpr Model llama{.layers = 2,
                        .feed_forward = 2816,
                        .activation = Activation::silu,
                        .norm = NormOrder::pre,
                        .gated = true,
                        .norm_kind = NormKind::rms,
                        .bias = Bias::without};
  using Packed = layout::InProj::With<Precision>;
  using Llama = layout::WithoutBias<layout::SeparateQKV::With<Precision>>;
  table.attention<1, small, Packed>("1 x attention 128,4, 256 keys");
  table.attention<1, medium, Packed>("1 x attention 512,8, 1024 keys");
  table.attention<12, medium, Packed>("12 x attention 512,8, 1024 keys");
  table.attention<4, large, Packed>("4 x attention 1024,16, 1024 keys");
  table.encoder<plain.with(medium), Packed>("6 x encoder layer 512,8, 1024 keys");
  table.encoder<llama.with(grouped), Llama>("2 x llama layer 1024,16/4, 1024 keys");
  table.encoder<with_layers(llama, 8).with(grouped), Llama>("8 x llama layer 1024,16/4, 1024 keys");
  table.attention<12, with_cache(medium, CachePrecision::bfloat16), Packed>(
      "12 x attention 512,8, 1024 keys, bfloat16 cache");
  table.attention<12, with_cache(medium, CachePrecision::int8), Packed>("12 x attention 512,8, 1024 keys, int8 cache");
  table.encoder<llama.with(with_cache(grouped, CachePrecision::bfloat16)), Llama>(
      "2 x llama layer 1024,16/4, 1024 keys, bfloat16 cache");
  table.encoder<llama.with(with_cache(grouped, CachePrecision::int8)), Llama>(
      "2 x llama layer 1024,16/4, 1024 keys, int8 cache");
  if constexpr (std::is_same_v<Precision, precision::Float32>) {  // other precisions need the order (out, in)
    table.attention<12, medium, layout::InOut>("12 x attention 512,8, 1024 keys, in_out");
    table.encoder<plain.with(medium), layout::InOut>("6 x encoder layer 512,8, 1024 keys, in_out");
    table.given<medium>("1 query of 8 heads, 1024 keys of 64");
    table.given<with_queries(medium, 4)>("4 queries of 8 heads, 1024 keys of 64");
    table.given<with_queries(medium, 8)>("8 queries of 8 heads, 1024 keys of 64");
    table.given<grouped>("1 query of 16/4 heads, 1024 keys of 64");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Chosen chosen;
  CLI::App app("Measures decoding one token at a time, relative to a plain read of the same bytes.");
  app.add_option("--json", chosen.json, "writes the figures to this file");
  app.add_option("--only", chosen.only, "measures only the cases whose names contain this text");
  app.add_option("--precision", chosen.precision, "precision of the weights: float32, bfloat16, int8 or int4 (float32)")
      ->check(CLI::IsMember({"float32", "bfloat16", "int8", "int4"}));
  app.add_option("--rounds", chosen.rounds, "rounds for each case (31)")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const ladon_bench::JsonFile file(chosen.json, "ladon_bench_decode");
  if (!file.writable()) return 1;
  Table table(chosen);
  if (chosen.precision == "float32") measure_all<precision::Float32>(table);
  if (chosen.precision == "bfloat16") measure_all<precision::BFloat16>(table);
  if (chosen.precision == "int8") measure_all<precision::Int8<8>>(table);
  if (chosen.precision == "int4") measure_all<precision::Int4<8>>(table);
  return file.write({{"machine", ladon_bench::machine()}, {"precision", chosen.precision}, {"rows", table.rows}});
}
