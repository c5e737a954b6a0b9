// Ladon, and the FMA peak, as one more peer: a process that hears and answers as protocol.py says.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <ladon/version.hpp>

#include "fma_peak.hpp"
#include "machine.hpp"
#include "peers/ladon_layers.hpp"

namespace {

using nlohmann::json;
using namespace ladon_bench;

Numbers read_numbers(const std::string& path, const json& places) {
  std::ifstream file(path, std::ios::binary);
  Numbers numbers;
  for (const auto& [name, place] : places.items()) {
    std::size_t count = 1;
    for (const std::size_t size : place.at("shape")) count *= size;
    std::vector<float>& values = numbers[name];
    values.resize(count);
    file.seekg(static_cast<std::streamoff>(sizeof(float) * place.at("first").get<std::size_t>()));
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(sizeof(float) * count));
  }
  if (!file) throw std::runtime_error("cannot read " + path);
  return numbers;
}

class Peer {
 public:
  json answer(const json& request) {
    const std::string what = request.at("do");
    if (what == "case") return begin(request);
    if (what == "build") return build(request);
    if (what == "round") return {{"seconds", round(request.at("seconds"))}};
    if (what == "peak") return {{"gflops", peak()}};
    throw std::runtime_error("what is " + what + "?");
  }

 private:
  json begin(const json& request) {
    const std::string mask = request.at("mask");
    const Case one{request.at("kind"), request.at("tokens"), request.at("model"), request.at("heads"), mask};
    const auto found = layers().find(one.name());
    if (found == layers().end()) throw std::runtime_error("no kernel is compiled for " + one.name());
    numbers_ = read_numbers(request.at("numbers"), request.at("places"));
    layer_ = found->second(numbers_);
    json machine = ladon_bench::machine();
    machine["flags"] = LADON_PEER_FLAGS;
    return {{"name", "Ladon"},
            {"versions", {{"ladon", LADON_VERSION_STRING}}},
            {"forms", {machine.at("target")}},
            {"machine", machine}};
  }

  json build(const json& request) {
    if (request.at("layers") != 1) throw std::runtime_error("one layer is enough: a call costs nothing");
    layer_->run();
    const std::string path = request.at("output");
    std::ofstream file(path, std::ios::binary);
    const std::vector<float>& y = layer_->result();
    file.write(reinterpret_cast<const char*>(y.data()), static_cast<std::streamsize>(sizeof(float) * y.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
    estimate_ = time(1);
    return json::object();
  }

  double time(std::size_t repeats) {
    const double start = ladon::bench::now();
    for (std::size_t i = 0; i < repeats; ++i) layer_->run();
    return (ladon::bench::now() - start) / static_cast<double>(repeats);
  }

  double round(double seconds) {
    layer_->run();  // others have had the caches
    estimate_ = time(static_cast<std::size_t>(std::max(1.0, std::round(seconds / std::max(estimate_, 1e-7)))));
    return estimate_;
  }

  // What ran last on this core may have been another process: a short one first.
  static double peak() {
    ladon::bench::fma_peak();
    return ladon::bench::fma_peak(100000);
  }

  Numbers numbers_;
  std::unique_ptr<AnyLayer> layer_;
  double estimate_ = 0;
};

}  // namespace

int main() {
  Peer peer;
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      answer = peer.answer(json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
}
