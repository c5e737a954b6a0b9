// Ladon's process for `./dev bench minilm`: measures examples/minilm from token ids to unit vectors, and the FMA peak.
// bench/ladon_bench/peers/model_serving.py and bench/ladon_bench/minilm/serving.py describe the protocol.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ladon/version.hpp>
#include <nlohmann/json.hpp>

#include "fma_peak.hpp"
#include "machine.hpp"
#include "minilm.hpp"
#include "undisturbed.hpp"
#include "word_piece.hpp"

namespace {

using minilm::Embedding;
using minilm::TokenId;
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
    if (what == "ids") return ids(request);
    throw std::runtime_error("what is " + what + "?");
  }

 private:
  using Clock = std::chrono::steady_clock;

  json begin(const json& request) {
    const std::string precision = request.at("precision");
    encoder_ = std::make_unique<minilm::SentenceEncoder>(
        request.at("model").get<std::string>(), files::Load::map,
        precision == "int8" ? minilm::Precision::int8 : minilm::Precision::float32);
    sentences_ = request.at("sentences").get<std::vector<std::vector<TokenId>>>();
    together_ = request.at("together");
    const json machine = ladon_bench::machine();
    return {{"name", "Ladon"},
            {"versions", {{"ladon", LADON_VERSION_STRING}}},
            {"forms", {machine.at("target")}},
            {"machine", machine}};
  }

  json build(const json& request) {
    compute();
    std::ofstream file(request.at("output").get<std::string>(), std::ios::binary);
    for (const Embedding& one : embeddings_)
      file.write(reinterpret_cast<const char*>(one.data()), static_cast<std::streamsize>(sizeof(one)));
    if (!file.flush()) throw std::runtime_error("the vectors cannot be written");
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
    if (together_) {
      embeddings_ = encoder_->embed(sentences_);
      return;
    }
    embeddings_.clear();
    for (const std::vector<TokenId>& sentence : sentences_) embeddings_.push_back(encoder_->embed(sentence));
  }

  // Measures the peak after two probes, and discards the first probe. Another process may have used this core before,
  // so the caches are not warm at the first probe.
  static json peak() {
    ladon::bench::quiet().now_quiet();
    const bool quiet = ladon::bench::quiet().now_quiet();
    return {{"quiet", quiet}, {"gflops", ladon::bench::fma_peak()}};
  }

  static json ids(const json& request) {
    const std::string text = request.at("text");
    const minilm::WordPiece tokenizer(request.at("vocabulary").get<std::string>());
    return {{"ids", tokenizer.encode(text, text.size() + 2)}};
  }

  std::unique_ptr<minilm::SentenceEncoder> encoder_;
  std::vector<std::vector<TokenId>> sentences_;
  std::vector<Embedding> embeddings_;
  bool together_ = false;
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
