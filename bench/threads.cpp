// ladon_bench_threads [THREADS]: how much faster a call is that so many threads (2) make together. The call alone and
// the call by all of them alternate in rounds of some milliseconds; what is printed is the median of the rounds' ratios
// and its quartiles.
#include <cstdio>
#include <cstdlib>

#include "measure.hpp"
#include "team.hpp"

namespace {

using namespace ladon;
using ladon_bench::Parameters, ladon_bench::random_numbers, ladon_bench::Team;

constexpr std::size_t most_threads = 64;

// Seconds a run of work.
template <class Work>
double seconds(std::size_t repeats, Work work) {
  const double start = bench::now();
  for (std::size_t r = 0; r < repeats; ++r) {
    work();
    benchmark::ClobberMemory();
  }
  return (bench::now() - start) / static_cast<double>(repeats);
}

template <class Alone, class Together>
void compare(const char* name, Alone alone, Together together) {
  alone();
  together();
  const auto repeats = std::max<std::size_t>(1, static_cast<std::size_t>(5e-3 / seconds(3, alone)));
  std::vector<double> ratios, alone_times, team_times;
  for (int round = 0; round < 101; ++round) {
    alone_times.push_back(seconds(repeats, alone));
    team_times.push_back(seconds(repeats, together));
    ratios.push_back(alone_times.back() / team_times.back());
  }
  using bench::quantile;
  std::printf("%-34s %9.1f us %9.1f us %6.2f times %6.2f %6.2f\n", name, 1e6 * quantile(alone_times, 0.5),
              1e6 * quantile(team_times, 0.5), quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75));
  std::fflush(stdout);
}

// Of a layer that runs x to y.
template <class Layer>
void compare_layer(const char* name, Team& team, const typename Layer::Weights& weights) {
  const std::vector<float> x = random_numbers(Layer::shape.queries * Layer::shape.model, 1);
  std::vector<float> y(x.size());
  const auto workspace = std::make_unique<typename Layer::Workspace>();
  const auto shared = std::make_unique<typename Layer::template TeamWorkspace<most_threads>>();
  compare(
      name, [&] { Layer::run(x.data(), weights, y.data(), *workspace); },
      [&] {
        team.run(Layer::phases, [&](std::size_t phase, Share share) {
          Layer::run_phase(phase, share, x.data(), weights, y.data(), shared->shared, shared->scratch[share.index]);
        });
      });
}

template <Shape S>
void compare_shape(const std::string& size, Team& team) {
  constexpr std::size_t hidden = 4 * S.model;
  using Full = MultiHeadAttention<S>;
  using Causal = MultiHeadAttention<S, mask::Causal>;
  using Layer = EncoderLayer<S, LayerForm{.feed_forward = hidden}>;
  const Parameters in(3 * S.model, S.model), out(S.model, S.model), first(hidden, S.model), second(S.model, hidden);
  const std::vector<float> ones(S.model, 1.0f), zeros(S.model, 0.0f);
  const typename Full::Weights attention{.in_proj = {in.weight.data(), in.bias.data()},
                                         .out_proj = {out.weight.data(), out.bias.data()}};
  compare_layer<Full>(("attention/" + size + "/full").c_str(), team, attention);
  compare_layer<Causal>(("attention/" + size + "/causal").c_str(), team, attention);
  compare_layer<Layer>(("encoder_layer/" + size + "/full").c_str(), team,
                       {.attention = attention,
                        .linear1 = {first.weight.data(), first.bias.data()},
                        .linear2 = {second.weight.data(), second.bias.data()},
                        .norm1 = {ones.data(), zeros.data()},
                        .norm2 = {ones.data(), zeros.data()}});
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2;
  if (threads < 1 || threads > most_threads) {
    std::fprintf(stderr, "ladon_bench_threads: from 1 to %zu threads\n", most_threads);
    return 2;
  }
  Team team(threads);
  std::printf("%-34s %12s %7zu threads %12s %13s\n", "", "alone", threads, "faster", "quartiles");
  compare_shape<Shape{.queries = 64, .model = 128, .heads = 4}>("64,128,4", team);
  compare_shape<Shape{.queries = 128, .model = 384, .heads = 12}>("128,384,12", team);
}
