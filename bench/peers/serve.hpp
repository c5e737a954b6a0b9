// Implements the protocol of protocol.py for packages that are measured from C++. A call from Python has overhead, so
// protocol.py also measures calls with several layers. A call from C++ has no such overhead, so each call computes one
// layer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "answer_lines.hpp"
#include "cases.hpp"
#include "numbers.hpp"

namespace ladon_bench {

using nlohmann::json;

// Answers the requests to one process that is measured. A Peer has
//   json begin(const Case&)           returns name, versions and forms
//   std::unique_ptr<...> build(const Case&, const Numbers&, const std::string& form)
//                                     returns an object with run(), which computes, and result(), a vector
//   json other(const json& request)   answers the requests that other peers do not have
// The object that build() returns may have rest(), which is called at the end of a round. rest() ends spinning threads,
// so that the threads do not slow the next process that is measured.
template <class Peer>
class Server {
 public:
  json answer(const json& request) {
    const std::string what = request.at("do");
    if (what == "case") return begin(request);
    if (what == "build") return build(request);
    if (what == "round") return built_.at(request.at("form")).round(request.at("seconds"));
    if (what == "drop") {
      built_.erase(request.at("form"));
      return json::object();
    }
    return peer_.other(request);
  }

 private:
  using Computation =
      decltype(std::declval<Peer&>().build(std::declval<Case>(), std::declval<Numbers>(), std::declval<std::string>()));

  struct Contestant {
    Computation computation;
    double estimate = 0;

    // Returns how often another process has interrupted this process so far.
    static long interruptions() {
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      return usage.ru_nivcsw;
    }

    double time(std::size_t repeats) {
      using Clock = std::chrono::steady_clock;
      const Clock::time_point start = Clock::now();
      for (std::size_t i = 0; i < repeats; ++i) computation->run();
      return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(repeats);
    }

    // Calls run() for about `seconds` seconds and measures these calls. Before the measurement, calls run() for about
    // seconds / 10 seconds, because other processes have filled the caches and trained the branch predictors.
    json round(double seconds) {
      const double calls = seconds / std::max(estimate, 1e-7);
      time(static_cast<std::size_t>(std::ceil(calls / 10)));
      const long before = interruptions();
      estimate = time(static_cast<std::size_t>(std::max(1.0, std::round(calls))));
      const bool interrupted = interruptions() != before;
      rest();
      return {{"seconds", estimate}, {"interrupted", interrupted}};
    }

    void rest() {
      if constexpr (requires { computation->rest(); }) computation->rest();
    }
  };

  json begin(const json& request) {
    case_ = {request.at("kind"), request.at("tokens"),  request.at("model"),    request.at("heads"),
             request.at("mask"), request.at("threads"), request.at("precision")};
    const std::string path = request.at("numbers");
    std::ifstream file(path, std::ios::binary);
    for (const auto& [name, place] : request.at("places").items()) {
      std::size_t count = 1;
      for (const std::size_t size : place.at("shape")) count *= size;
      std::vector<float>& values = numbers_[name];
      values.resize(count);
      file.seekg(static_cast<std::streamoff>(sizeof(float) * place.at("first").template get<std::size_t>()));
      file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(sizeof(float) * count));
    }
    if (!file) throw std::runtime_error("cannot read " + path);
    return peer_.begin(case_);
  }

  json build(const json& request) {
    const std::string form = request.at("form"), path = request.at("output");
    Contestant& one = built_[form];
    one.computation = peer_.build(case_, numbers_, form);
    one.computation->run();
    const auto& y = one.computation->result();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(y.data()), static_cast<std::streamsize>(sizeof(float) * y.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
    one.estimate = one.time(1);
    one.rest();
    return json::object();
  }

  Peer peer_;
  Case case_;
  Numbers numbers_;
  std::map<std::string, Contestant> built_;
};

template <class Peer>
int serve() {
  return answer_lines<Server<Peer>>();
}

}  // namespace ladon_bench
