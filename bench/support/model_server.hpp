// Implements the protocol of bench/ladon_bench/peers/model_serving.py for Ladon's processes, which compute a whole
// model.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <ladon/version.hpp>

#include "fma_peak.hpp"
#include "machine.hpp"
#include "undisturbed.hpp"

namespace ladon_bench {

// Answers the requests to a process that measures one model. A request of the kind "case" says which texts or sounds to
// compute. A Model has
//   void begin(const json& request)     prepares the case of a request
//   void compute()                      computes all calls of the case
//   const auto& results()               returns a range of arrays of floats, the results of `compute`
//   json other(const json& request)     answers the requests that other models do not have
template <class Model>
class ModelServer {
 public:
  using json = nlohmann::json;

  json answer(const json& request) {
    const std::string what = request.at("do");
    if (what == "case") return begin(request);
    if (what == "build") return build(request);
    if (what == "round") return round(request.at("seconds"));
    if (what == "drop") return json::object();  // there is only one form
    if (what == "peak") return peak();
    if (what == "quiet") return {{"quiet", ladon::bench::quiet().wait(request.at("seconds"))}};
    return model_.other(request);
  }

 private:
  using Clock = std::chrono::steady_clock;

  json begin(const json& request) {
    model_.begin(request);
    const json machine = ladon_bench::machine();
    return {{"name", "Ladon"},
            {"versions", {{"ladon", LADON_VERSION_STRING}}},
            {"forms", {machine.at("target")}},
            {"machine", machine}};
  }

  json build(const json& request) {
    model_.compute();
    std::ofstream file(request.at("output").get<std::string>(), std::ios::binary);
    for (const auto& one : model_.results())
      file.write(reinterpret_cast<const char*>(one.data()), static_cast<std::streamsize>(sizeof(one)));
    if (!file.flush()) throw std::runtime_error("the results cannot be written");
    estimate_ = time(1);
    return json::object();
  }

  json round(double seconds) {
    model_.compute();  // warms the caches, which other processes have used
    const long before = ladon::bench::interruptions();
    estimate_ = time(static_cast<std::size_t>(std::max(1.0, std::round(seconds / estimate_))));
    return {{"seconds", estimate_}, {"interrupted", ladon::bench::interruptions() != before}};
  }

  double time(std::size_t repeats) {
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < repeats; ++i) model_.compute();
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(repeats);
  }

  // now_quiet() measures the speed of the core. Its first call only warms the caches, because another process may have
  // used this core before. `quiet` is the result of the second call. Then the function measures the FMA peak.
  static json peak() {
    ladon::bench::quiet().now_quiet();
    const bool quiet = ladon::bench::quiet().now_quiet();
    return {{"quiet", quiet}, {"gflops", ladon::bench::fma_peak()}};
  }

  Model model_;
  double estimate_ = 0;  // seconds of all calls
};

}  // namespace ladon_bench
