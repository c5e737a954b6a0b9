// ladon_bench, ladon_bench_bfloat16, ladon_bench_int8 [--json FILE] [--rounds N] [--patience SECONDS] [options of
// Google Benchmark, such as --benchmark_filter=REGEX, but not --benchmark_out]: measures the share of the peak that
// attention and encoder layers reach. ladon_bench has float32 weights, and the other programs have weights of the type
// in their names. Each case has N rounds, by default 31. While another process uses the core, a case waits, but at most
// SECONDS seconds, by default 20. With 0, a case does not wait.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "json_file.hpp"
#include "machine.hpp"
#include "measurements.hpp"

namespace {

using ladon_bench::Case, ladon_bench::Measurement;

// Prints a line after the measurement of each case, and stores the figures for the file of --json.
class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    std::printf("%s\n\n%-34s %7s %15s %9s %9s %10s\n", ladon_bench::machine().dump().c_str(), "", "of peak",
                "quartiles", "GFLOP/s", "peak", "disturbed");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const Case* const found = case_of(run);
      if (!found || run.run_type != Run::RT_Iteration) continue;
      const auto figure = [&](const char* name) { return static_cast<double>(run.counters.at(name)); };
      std::printf("%-34s %6.1f%% %6.1f%% %6.1f%% %9.1f %9.1f %9.0f%%\n", found->name().c_str(),
                  100 * figure("share_of_peak"), 100 * figure("lower_quartile"), 100 * figure("upper_quartile"),
                  figure("gflops"), figure("peak_gflops"), 100 * figure("disturbed"));
      std::fflush(stdout);
      nlohmann::ordered_json row{{"tokens", found->tokens},
                                 {"model", found->model},
                                 {"heads", found->heads},
                                 {"mask", found->mask},
                                 {"precision", found->precision}};
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
  static const Case* case_of(const Run& run) {
    for (const Measurement& one : ladon_bench::measurements()) {
      if (run.run_name.function_name == one.what.name()) return &one.what;
    }
    return nullptr;
  }
};

// Returns true if the user asks for --benchmark_out, or sets BENCHMARK_OUT in the environment. The program rejects
// both, because Google Benchmark truncates the file before the measurements. After an interrupt, the file would be
// empty.
bool asks_benchmark_out(const std::vector<char*>& arguments) {
  const auto is_out = [](std::string_view argument) { return argument.starts_with("--benchmark_out="); };
  const char* variable = std::getenv("BENCHMARK_OUT");
  return (variable && *variable) || std::any_of(arguments.begin(), arguments.end(), is_out);
}

void register_all(int rounds, double patience) {
  for (const Measurement& one : ladon_bench::measurements()) {
    benchmark::RegisterBenchmark(one.what.name().c_str(), one.run, patience)->UseManualTime()->Iterations(rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const ladon_bench::JsonFile file(arguments, "ladon_bench");
  const int rounds = ladon_bench::take_number(arguments, "--rounds", 31, 1);
  const double patience = ladon_bench::take_number(arguments, "--patience", 20.0, 0.0);
  if (asks_benchmark_out(arguments)) {
    std::fprintf(stderr, "ladon_bench: --benchmark_out and BENCHMARK_OUT are not supported: use --json FILE\n");
    return 2;
  }
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  if (!file.writable()) return 1;
  register_all(rounds, patience);
  Table table;
  benchmark::RunSpecifiedBenchmarks(&table);
  return file.write(
      {{"machine", ladon_bench::machine()}, {"rows", table.rows}, {"encoder_layers", table.encoder_layers}});
}
