// Ladon's process for `./dev bench keywords`: measures the FMA peak and the speed of examples/keywords. The input is
// sound or features, and the output is logits. bench/ladon_bench/peers/model_serving.py and
// bench/ladon_bench/keywords/serving.py describe the protocol.
#include <cstddef>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "answer_lines.hpp"
#include "model_server.hpp"
#include "spotter.hpp"

namespace {

using keywords::Features;
using keywords::Logits;
using keywords::Samples;
using nlohmann::json;

class Model {
 public:
  void begin(const json& request) {
    spotter_ = std::make_unique<keywords::Spotter>(request.at("model").get<std::string>(), precision(request));
    whole_chain_ = request.at("part") == "chain";
    logits_.resize(request.at("windows"));
    read_inputs(request.at("inputs"));
  }

  void compute() {
    for (std::size_t i = 0; i < logits_.size(); ++i) {
      const float* window = inputs_.data() + i * window_size();
      logits_[i] = whole_chain_ ? spotter_->logits(Samples(window, Samples::extent))
                                : spotter_->logits_of_features(Features(window, Features::extent));
    }
  }

  const std::vector<Logits>& results() const { return logits_; }

  static json other(const json& request) {
    throw std::runtime_error("what is " + request.at("do").get<std::string>() + "?");
  }

 private:
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

  // Returns the number of floats in the input of one window.
  std::size_t window_size() const { return whole_chain_ ? Samples::extent : Features::extent; }

  std::unique_ptr<keywords::Spotter> spotter_;
  bool whole_chain_ = true;
  std::vector<float> inputs_;   // [windows][window_size()]
  std::vector<Logits> logits_;  // [windows]
};

}  // namespace

int main() { return ladon_bench::answer_lines<ladon_bench::ModelServer<Model>>(); }
