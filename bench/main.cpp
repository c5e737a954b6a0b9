// ladon_bench [--json FILE] [Google Benchmark's options, such as --benchmark_filter=REGEX]
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "cases.hpp"
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

// Takes --json FILE out of the arguments; the rest is Google Benchmark's.
std::string take_json_path(std::vector<char*>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool joined = argument.starts_with("--json=");
    if (!joined && (argument != "--json" || i + 1 == arguments.size())) continue;
    const std::string path = joined ? arguments[i] + 7 : arguments[i + 1];
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(first, first + (joined ? 1 : 2));
    return path;
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const std::string path = take_json_path(arguments);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  std::ofstream file;
  if (!path.empty()) {
    file.open(path);
    if (!file) {
      std::fprintf(stderr, "ladon_bench: cannot write %s\n", path.c_str());
      return 1;
    }
  }
  Table table(ladon_bench::cases());
  benchmark::RunSpecifiedBenchmarks(&table);
  if (!path.empty()) {
    const nlohmann::ordered_json figures{
        {"machine", ladon_bench::machine()}, {"rows", table.rows}, {"encoder_layers", table.encoder_layers}};
    file << figures.dump(1) << '\n';
    if (!file.flush()) {
      std::fprintf(stderr, "ladon_bench: could not write all of %s\n", path.c_str());
      return 1;
    }
  }
}
