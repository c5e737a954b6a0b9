// ladon_bench_threads [--json FILE] [THREADS]: compares the time of one call in one thread and in THREADS threads, by
// default 2. In each round, one thread computes calls for about a millisecond, but at least one call. Then THREADS
// threads compute the same number of calls. If another process used one of the cores during a round, the round is
// repeated. The ratio of a round is the time of one thread divided by the time of THREADS threads. Prints the median
// and the quartiles of the ratios of all rounds.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <ladon/ladon.hpp>

#include "cases.hpp"
#include "cores.hpp"
#include "json_file.hpp"
#include "machine.hpp"
#include "parameters.hpp"
#include "rounds.hpp"
#include "shapes.hpp"
#include "team.hpp"

namespace {

using namespace ladon;
using ladon_bench::Case, ladon_bench::Cores, ladon_bench::Parameters, ladon_bench::random_numbers, ladon_bench::Team;

constexpr std::size_t most_threads = 64;

// Returns the seconds of one call of work().
template <class Work>
double seconds(std::size_t repeats, Work work) {
  const double start = bench::now();
  for (std::size_t r = 0; r < repeats; ++r) {
    work();
    benchmark::ClobberMemory();
  }
  return (bench::now() - start) / static_cast<double>(repeats);
}

// The data that all comparisons share: the threads, their cores, and the figures for the file of --json.
struct Comparison {
  static constexpr int rounds = 101;
  static constexpr double patience = 20;  // seconds for each row, to wait for quiet cores
  Team team;
  Cores cores;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();

  explicit Comparison(std::size_t threads) : team(threads), cores(threads) {}
};

struct Times {
  double alone, together;
  bool disturbed;
};

template <class Alone, class Together>
Times one_round(Comparison& all, std::size_t repeats, Alone& alone, Together& together) {
  const bool before = all.cores.now_quiet(all.team);
  const long switches = bench::interruptions();
  const double one = seconds(repeats, alone), several = seconds(repeats, together);
  const bool interrupted = bench::interruptions() != switches;
  return {one, several, !before || interrupted || !all.cores.now_quiet(all.team)};
}

template <class Alone, class Together>
void compare(Comparison& all, const Case& what, Alone alone, Together together) {
  using bench::quantile;
  alone();
  together();
  const auto repeats = std::max<std::size_t>(1, static_cast<std::size_t>(1e-3 / seconds(3, alone)));
  const double end = bench::now() + Comparison::patience;
  std::vector<double> ratios, alone_times, team_times;
  double disturbed = 0;
  for (int round = 0; round < Comparison::rounds; ++round) {
    Times times = one_round(all, repeats, alone, together);
    while (times.disturbed && all.cores.wait(all.team, end - bench::now())) {
      times = one_round(all, repeats, alone, together);
    }
    disturbed += times.disturbed;
    alone_times.push_back(times.alone);
    team_times.push_back(times.together);
    ratios.push_back(times.alone / times.together);
  }
  disturbed /= Comparison::rounds;
  std::printf("%-34s %9.1f us %9.1f us %6.2f times %6.2f %6.2f %9.0f%%\n", what.name().c_str(),
              1e6 * quantile(alone_times, 0.5), 1e6 * quantile(team_times, 0.5), quantile(ratios, 0.5),
              quantile(ratios, 0.25), quantile(ratios, 0.75), 100 * disturbed);
  std::fflush(stdout);
  all.rows.push_back({{"kind", what.layer},
                      {"tokens", what.tokens},
                      {"model", what.model},
                      {"heads", what.heads},
                      {"mask", what.mask},
                      {"threads", what.threads},
                      {"alone_seconds", quantile(alone_times, 0.5)},
                      {"together_seconds", quantile(team_times, 0.5)},
                      {"times_as_fast", quantile(ratios, 0.5)},
                      {"lower_quartile", quantile(ratios, 0.25)},
                      {"upper_quartile", quantile(ratios, 0.75)},
                      {"disturbed", disturbed}});
}

// Compares one thread with several threads for a layer that computes y from x.
template <class Layer>
void compare_layer(Comparison& all, const char* kind, const char* mask, const typename Layer::Weights& weights) {
  constexpr Shape S = Layer::shape;
  const std::vector<float> x = random_numbers(S.queries * S.model, 1);
  std::vector<float> y(x.size());
  const auto workspace = std::make_unique<typename Layer::Workspace>();
  const auto team = std::make_unique<typename Layer::template TeamWorkspace<most_threads>>();
  compare(
      all, {kind, S.queries, S.model, S.heads, mask, all.team.size()},
      [&] { Layer::run(x.data(), weights, y.data(), *workspace); },
      [&] {
        all.team.run(Layer::phases, [&](std::size_t phase, Share share) {
          Layer::run(x.data(), weights, y.data(), team->part(phase, share));
        });
      });
}

template <Shape S>
void compare_shape(Comparison& all) {
  constexpr std::size_t hidden = 4 * S.model;
  using Full = MultiHeadAttention<S>;
  using Causal = MultiHeadAttention<S, mask::Causal>;
  using Layer = EncoderLayer<Model{.feed_forward = hidden}.with(S)>;
  const Parameters in(3 * S.model, S.model), out(S.model, S.model), first(hidden, S.model), second(S.model, hidden);
  const std::vector<float> ones(S.model, 1.0f), zeros(S.model, 0.0f);
  const typename Full::Weights attention{.in_proj = {in.weight.data(), in.bias.data()},
                                         .out_proj = {out.weight.data(), out.bias.data()}};
  compare_layer<Full>(all, "attention", "full", attention);
  compare_layer<Causal>(all, "attention", "causal", attention);
  compare_layer<Layer>(all, "encoder_layer", "full",
                       {.attention = attention,
                        .linear1 = {first.weight.data(), first.bias.data()},
                        .linear2 = {second.weight.data(), second.bias.data()},
                        .norm1 = {ones.data(), zeros.data()},
                        .norm2 = {ones.data(), zeros.data()}});
}

template <std::size_t... I>
void compare_shapes(Comparison& all, std::index_sequence<I...>) {
  (compare_shape<ladon_bench::shapes[I]>(all), ...);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const ladon_bench::JsonFile file(arguments, "ladon_bench_threads");
  const std::size_t threads = arguments.size() > 1 ? std::strtoul(arguments[1], nullptr, 10) : 2;
  if (threads < 1 || threads > most_threads) {
    std::fprintf(stderr, "ladon_bench_threads: from 1 to %zu threads\n", most_threads);
    return 2;
  }
  if (!file.writable()) return 1;
  Comparison comparison(threads);
  std::printf("%-34s %12s %7zu threads %12s %13s %10s\n", "", "alone", threads, "faster", "quartiles", "disturbed");
  compare_shapes(comparison, std::make_index_sequence<std::size(ladon_bench::shapes)>());
  return file.write({{"machine", ladon_bench::machine(threads)}, {"rows", comparison.rows}});
}
