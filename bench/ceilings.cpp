// ladon_bench_ceilings [--json FILE] [--seconds S]: measures the peak rates that limit a layer on this core. These are
// the rates of multiply-adds, of reads, of exponentials, and of the innermost loop of matrix products. Each figure is
// the median of 15 rounds. A round is repeated while other processes use the core. All rounds of a figure together take
// at most about S seconds, by default 10.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "ceilings.hpp"
#include "json_file.hpp"
#include "machine.hpp"
#include "rounds.hpp"

namespace {

using namespace ladon;
using nlohmann::ordered_json;

constexpr double round_seconds = 2e-4;
double patience = 10;

// Measures a rate in 15 rounds. A round calls rate(), which returns units per second. Repeats rounds that other
// processes disturbed, until `patience` seconds have passed. Returns the median rate, and the fraction of the rounds
// that stayed disturbed.
template <class Rate>
ordered_json figure(const std::string& name, Rate rate) {
  std::vector<double> rates;
  double disturbed = 0;
  constexpr int rounds = 15;
  const double end = bench::now() + patience;
  rate();
  for (int round = 0; round < rounds; ++round) {
    bool alone = bench::quiet().wait(end - bench::now());
    double seen = rate();
    while (!(alone && bench::quiet().now_quiet()) && bench::now() < end) {
      alone = bench::quiet().wait(end - bench::now());
      seen = rate();
    }
    disturbed += bench::now() >= end;
    rates.push_back(seen);
  }
  const double median = bench::quantile(rates, 0.5);
  std::printf("%-24s %10.2f G/s %8.0f%% disturbed\n", name.c_str(), 1e-9 * median, 100 * disturbed / rounds);
  std::fflush(stdout);
  return {{"rate", median}, {"disturbed", disturbed / rounds}};
}

// Returns the size of a cache in bytes, or 0 if the system does not know the size.
std::size_t cache_bytes(int name) { return static_cast<std::size_t>(std::max(0L, sysconf(name))); }

ordered_json reads() {
  struct Level {
    const char* name;
    std::size_t bytes, walked, at_once;  // each round reads the next `at_once` of `walked` bytes
  };
  const std::size_t l1 = std::max<std::size_t>(cache_bytes(_SC_LEVEL1_DCACHE_SIZE), 16384);
  const std::size_t l2 = std::max<std::size_t>(cache_bytes(_SC_LEVEL2_CACHE_SIZE), 4 * l1);
  const std::size_t l3 = std::max<std::size_t>(cache_bytes(_SC_LEVEL3_CACHE_SIZE), 4 * l2);
  // For L1 and L2, the program reads an array of half the size of the cache, so that the array stays in the cache.
  // Other cores also use L3, so the array for L3 has at most 4 times the size of L2.
  ordered_json all = ordered_json::array();
  for (const Level& level :
       {Level{"L1", l1, l1 / 2, l1 / 2}, Level{"L2", l2, l2 / 2, l2 / 2},
        Level{"L3", l3, std::min(l3 / 2, 4 * l2), std::min(l3 / 2, 4 * l2)}, Level{"memory", 0, 4 * l3, l2 / 2}}) {
    std::vector<float> owned(level.walked / sizeof(float) + 16, 1.0f);
    void* place = owned.data();
    std::size_t space = owned.size() * sizeof(float), at = 0;
    const float* numbers = static_cast<const float*>(std::align(64, level.walked, place, space));
    const std::size_t times = std::max<std::size_t>(1, 4 * l2 / level.walked);
    ordered_json one = figure(std::string("bytes from ") + level.name, [&] {
      at = (at + level.at_once) % level.walked;
      if (at + level.at_once > level.walked) at = 0;
      return bench::read_rate(numbers + at / sizeof(float), level.at_once / sizeof(float), times);
    });
    all.push_back({{"level", level.name},
                   {"bytes", level.bytes},
                   {"walked", level.walked},
                   {"bytes_a_second", one["rate"]},
                   {"disturbed", one["disturbed"]}});
  }
  return all;
}

template <std::size_t Rows, std::size_t Packs, std::size_t... Inner>
void add_tiles(ordered_json& tiles) {
  const auto add = [&]<std::size_t N>() {
    const std::string name =
        "flops, " + std::to_string(Rows) + " x " + std::to_string(Packs) + ", " + std::to_string(N);
    ordered_json one = figure(name, [] { return bench::tile_rate<N, Rows, Packs>(round_seconds); });
    tiles.push_back({{"rows", Rows},
                     {"packs", Packs},
                     {"inner", N},
                     {"flops_a_second", one["rate"]},
                     {"disturbed", one["disturbed"]}});
  };
  (add.template operator()<Inner>(), ...);
}

// Sets `patience` to the number that follows the option --seconds.
void take_patience(const std::vector<char*>& arguments) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (std::string_view(arguments[i]) == "--seconds") patience = std::strtod(arguments[i + 1], nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const ladon_bench::JsonFile file(arguments, "ladon_bench_ceilings");
  take_patience(arguments);
  if (!file.writable()) return 1;
  ordered_json peak = figure("flops in registers", [] { return 1e9 * bench::fma_peak(); });
  const ordered_json memory = reads();
  ordered_json exponentials = figure("exponentials", [] { return bench::exponential_rate(40); });
  ordered_json tiles = ordered_json::array();
  constexpr detail::PanelLayout few = detail::panel_layout<bench::Widest>(bench::Widest::lanes);
  constexpr detail::PanelLayout many = detail::panel_layout<bench::Widest>(1000);
  add_tiles<few.tile_rows, few.packs, 8, 16, 32, 64, 128, 256>(tiles);
  add_tiles<many.tile_rows, many.packs, 8, 16, 32, 64, 128, 256, 384, 512, 768, 1024>(tiles);
  return file.write({{"machine", ladon_bench::machine()},
                     {"flops_a_second", peak["rate"]},
                     {"lanes", bench::Widest::lanes},
                     {"panel", many.width()},
                     {"exponentials_a_second", exponentials["rate"]},
                     {"reads", memory},
                     {"tiles", tiles}});
}
