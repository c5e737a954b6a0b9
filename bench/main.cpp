// ladon_bench [--json FILE] [Google Benchmark's options, such as --benchmark_filter=REGEX]
#include <algorithm>
#include <cstdio>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "cases.hpp"
#include "json_file.hpp"
#include "machine.hpp"

namespace {

using ladon_bench::Case;

// A line for each case as it is done, and the same figures kept for the file.
class Table : public benchmark::BenchmarkReporter {
 public:
  explicit Table(const std::vector<Case>& cases) : cases_(cases) {}

  bool ReportContext(const Context&) override {
    std::printf("%s\n\n%-34s %7s %15s %9s %9s %10s\n", ladon_bench::machine().dump().c_str(), "", "of peak",
                "quartiles", "GFLOP/s", "peak", "disturbed");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const auto found = std::find_if(cases_.begin(), cases_.end(),
                                      [&](const Case& one) { return run.run_name.function_name == one.name(); });
      if (found == cases_.end() || run.run_type != Run::RT_Iteration) continue;
      const auto figure = [&](const char* name) { return static_cast<double>(run.counters.at(name)); };
      std::printf("%-34s %6.1f%% %6.1f%% %6.1f%% %9.1f %9.1f %9.0f%%\n", found->name().c_str(),
                  100 * figure("share_of_peak"), 100 * figure("lower_quartile"), 100 * figure("upper_quartile"),
                  figure("gflops"), figure("peak_gflops"), 100 * figure("disturbed"));
      std::fflush(stdout);
      nlohmann::ordered_json row{
          {"tokens", found->tokens}, {"model", found->model}, {"heads", found->heads}, {"mask", found->mask}};
      for (const char* name :
           {"share_of_peak", "lower_quartile", "upper_quartile", "gflops", "peak_gflops", "disturbed"}) {
        row[name] = figure(name);
      }
      (found->layer == "attention" ? rows : encoder_layers).push_back(std::move(row));
    }
  }

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  nlohmann::ordered_json encoder_layers = nlohmann::ordered_json::array();

 private:
  const std::vector<Case>& cases_;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  ladon_bench::JsonFile file(arguments, "ladon_bench");
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  if (!file.opened()) return 1;
  Table table(ladon_bench::cases());
  benchmark::RunSpecifiedBenchmarks(&table);
  return file.write(
      {{"machine", ladon_bench::machine()}, {"rows", table.rows}, {"encoder_layers", table.encoder_layers}});
}
