// Ladon's process for `./dev bench peers`. In addition to the requests of all peers, the process answers "peak" and
// "quiet": it measures the FMA peak of the cores, and whether other processes use the cores.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <ladon/version.hpp>

#include "cores.hpp"
#include "ladon_layers.hpp"
#include "machine.hpp"
#include "serve.hpp"

namespace {

using namespace ladon_bench;

class LadonPeer {
 public:
  json begin(const Case& one) {
    if (!layers().contains(one.name())) throw std::runtime_error("no kernel is compiled for " + one.name());
    if (one.threads < 1 || one.threads > most_threads) throw std::runtime_error("from 1 to 8 threads");
    threads_ = one.threads;
    cores_.emplace(threads_);
    const json machine = ladon_bench::machine(threads_);
    return {{"name", "Ladon"},
            {"versions", {{"ladon", LADON_VERSION_STRING}}},
            {"forms", {machine.at("target")}},
            {"machine", machine}};
  }

  std::unique_ptr<AnyLayer> build(const Case& one, const Numbers& numbers, const std::string&) {
    return layers().at(one.name())(numbers, one.threads);
  }

  json other(const json& request) {
    const std::string what = request.at("do");
    Team team(threads_);
    if (what == "quiet") return {{"quiet", cores_->wait(team, request.at("seconds"))}};
    if (what != "peak") throw std::runtime_error("what is " + what + "?");
    // now_quiet() measures the speed of the cores. The first call only warms the caches, which another process may have
    // filled before. With cold caches, the result would be too low.
    cores_->now_quiet(team);
    const bool quiet = cores_->now_quiet(team);
    return {{"quiet", quiet}, {"gflops", cores_->fma_peak(team, 20000)}};
  }

 private:
  std::size_t threads_ = 1;
  std::optional<Cores> cores_;
};

}  // namespace

int main() { return serve<LadonPeer>(); }
