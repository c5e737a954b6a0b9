// Ladon, and the FMA peak, as one more peer.
#include <memory>
#include <stdexcept>
#include <string>

#include <ladon/version.hpp>

#include "fma_peak.hpp"
#include "machine.hpp"
#include "peers/ladon_layers.hpp"
#include "peers/serve.hpp"

namespace {

using namespace ladon_bench;

class LadonPeer {
 public:
  json begin(const Case& one) {
    if (!layers().contains(one.name())) throw std::runtime_error("no kernel is compiled for " + one.name());
    json machine = ladon_bench::machine();
    machine["flags"] = LADON_PEER_FLAGS;
    return {{"name", "Ladon"},
            {"versions", {{"ladon", LADON_VERSION_STRING}}},
            {"forms", {machine.at("target")}},
            {"machine", machine}};
  }

  std::unique_ptr<AnyLayer> build(const Case& one, const Numbers& numbers, const std::string&) {
    return layers().at(one.name())(numbers);
  }

  json other(const std::string& what) {
    if (what != "peak") throw std::runtime_error("what is " + what + "?");
    ladon::bench::fma_peak();  // what ran last on this core may have been another process
    return {{"gflops", ladon::bench::fma_peak(100000)}};
  }
};

}  // namespace

int main() { return serve<LadonPeer>(); }
