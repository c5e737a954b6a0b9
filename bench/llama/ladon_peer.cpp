// Ladon's process for `./dev bench llama`: measures the FMA peak, and how fast a language model reads a prompt and
// appends tokens. bench/ladon_bench/peers/model_serving.py and bench/ladon_bench/llama/serving.py describe the
// protocol.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "answer_lines.hpp"
#include "language_model.hpp"
#include "model_server.hpp"

namespace {

using nlohmann::json;

constexpr std::size_t vocabulary = 49152;

class Model {
 public:
  void begin(const json& request) {
    const std::string precision = request.at("precision"), folder = request.at("model");
    if (precision == "8 bits") {
      model_ = ladon_bench::llama_int8(folder);
    } else if (precision == "4 bits") {
      model_ = ladon_bench::llama_int4(folder);
    } else {
      throw std::runtime_error("Ladon has no form of " + precision + " here");
    }
    depth_ = request.at("depth");
    together_ = request.at("together");
    read_ids(request.at("inputs"), request.at("tokens"));
    if (depth_ > 0) model_->append(std::span(ids_).first(depth_));
  }

  void compute() {
    model_->shorten(depth_);
    const std::span<const std::int32_t> appended = std::span(ids_).subspan(depth_);
    if (together_) return model_->append(appended);
    for (std::size_t i = 0; i < appended.size(); ++i) model_->append(appended.subspan(i, 1));
  }

  // One array: the logits of the last token.
  std::array<std::array<float, vocabulary>, 1> results() const {
    std::array<std::array<float, vocabulary>, 1> one{};
    std::ranges::copy(model_->logits(), one[0].begin());
    return one;
  }

  static json other(const json& request) {
    throw std::runtime_error("what is " + request.at("do").get<std::string>() + "?");
  }

 private:
  void read_ids(const std::string& name, std::size_t tokens) {
    ids_.resize(tokens);
    std::ifstream file(name, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(ids_.data()), static_cast<std::streamsize>(tokens * sizeof(std::int32_t))))
      throw std::runtime_error("the ids cannot be read");
  }

  std::unique_ptr<ladon_bench::LanguageModel> model_;
  std::size_t depth_ = 0;  // tokens before those that are measured
  bool together_ = false;  // whether a call takes all measured tokens, or one
  std::vector<std::int32_t> ids_;
};

}  // namespace

int main() { return ladon_bench::answer_lines<ladon_bench::ModelServer<Model>>(); }
