// Ladon's process for `./dev bench keywords`: measures examples/keywords from sound or features to logits, and the FMA
// peak. bench/ladon_bench/peers/model_serving.py and bench/ladon_bench/keywords/serving.py describe the protocol.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <ladon/version.hpp>
#include <nlohmann/json.hpp>

#include "fma_peak.hpp"
#include "machine.hpp"
#include "spotter.hpp"
#include "undisturbed.hpp"

namespace {

using keywords::Features;
using keywords::Logits;
using keywords::Samples;
using nlohmann::json;

class Server {
 public:
  json answer(const json& request) {
    const std::string what = request.at("do");
    if (what == "case") return begin(request);
    if (what == "build") return build(request);
    if (what == "round") return round(request.at("seconds"));
    if (what == "drop") return json::object();  // there is only one form
    if (what == "peak") return peak();
    if (what == "quiet") return {{"quiet", ladon::bench::quiet().wait(request.at("seconds"))}};
    throw std::runtime_error("what is " + what + "?");
  }

 private:
  using Clock = std::chrono::steady_clock;

  json begin(const json& request) {
    spotter_ = std::make_unique<keywords::Spotter>(request.at("model").get<std::string>(), precision(request));
    whole_chain_ = request.at("part") == "chain";
    logits_.resize(request.at("windows"));
    read_inputs(request.at("inputs"));
    const json machine = ladon_bench::machine();
    return {{"name", "Ladon"},
            {"versions", {{"ladon", LADON_VERSION_STRING}}},
            {"forms", {machine.at("target")}},
            {"machine", machine}};
  }

  static keywords::Precision precision(const json& request) {
    const std::string name = request.at("precision");
    if (name == "float32") return keywords::Precision::float32;
    if (name == "int8") return keywords::Precision::int8;
    throw std::runtime_error("Ladon has no form of " + name + " here");
  }

  void read_inputs(const std::string& name) {
    inputs_.resize(logits_.size() * window_size());
    std::ifstream file(name, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(inputs_.data()),
                   static_cast<std::streamsize>(inputs_.size() * sizeof(float))))
      throw std::runtime_error("the inputs cannot be read");
  }

  json build(const json& request) {
    compute();
    std::ofstream file(request.at("output").get<std::string>(), std::ios::binary);
    for (const Logits& one : logits_)
      file.write(reinterpret_cast<const char*>(one.data()), static_cast<std::streamsize>(sizeof(one)));
    if (!file.flush()) throw std::runtime_error("the logits cannot be written");
    estimate_ = time(1);
    return json::object();
  }

  json round(double seconds) {
    compute();  // other processes have used the caches
    const long before = ladon::bench::interruptions();
    estimate_ = time(static_cast<std::size_t>(std::max(1.0, std::round(seconds / estimate_))));
    return {{"seconds", estimate_}, {"interrupted", ladon::bench::interruptions() != before}};
  }

  double time(std::size_t repeats) {
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < repeats; ++i) compute();
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(repeats);
  }

  void compute() {
    for (std::size_t i = 0; i < logits_.size(); ++i) {
      const float* window = inputs_.data() + i * window_size();
      logits_[i] = whole_chain_ ? spotter_->logits(Samples(window, Samples::extent))
                                : spotter_->logits_of_features(Features(window, Features::extent));
    }
  }

  // Returns the number of floats in the input of one window.
  std::size_t window_size() const { return whole_chain_ ? Samples::extent : Features::extent; }

  // Measures the peak after two probes, and discards the first probe. Another process may have used this core before,
  // so the caches are not warm at the first probe.
  static json peak() {
    ladon::bench::quiet().now_quiet();
    const bool quiet = ladon::bench::quiet().now_quiet();
    return {{"quiet", quiet}, {"gflops", ladon::bench::fma_peak()}};
  }

  std::unique_ptr<keywords::Spotter> spotter_;
  bool whole_chain_ = true;
  std::vector<float> inputs_;   // [windows][window_size()]
  std::vector<Logits> logits_;  // [windows]
  double estimate_ = 0;
};

}  // namespace

int main() {
  Server server;
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      answer = server.answer(json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
