// Ladon's process for `./dev bench minilm`: measures the FMA peak and the speed of examples/minilm. The input is token
// ids, and the output is unit vectors. bench/ladon_bench/peers/model_serving.py and bench/ladon_bench/minilm/serving.py
// describe the protocol.
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ladon/tokenizer.hpp>
#include <nlohmann/json.hpp>

#include "answer_lines.hpp"
#include "minilm.hpp"
#include "model_server.hpp"

namespace {

using minilm::Embedding;
using minilm::TokenId;
using nlohmann::json;

class Model {
 public:
  void begin(const json& request) {
    const std::filesystem::path file(request.at("model").get<std::string>());
    encoder_ = std::make_unique<minilm::SentenceEncoder>(file.parent_path(), request.at("precision"));
    sentences_ = request.at("sentences").get<std::vector<std::vector<TokenId>>>();
    together_ = request.at("together");
  }

  void compute() {
    if (together_) {
      embeddings_ = encoder_->embed(sentences_);
      return;
    }
    embeddings_.clear();
    for (const std::vector<TokenId>& sentence : sentences_) embeddings_.push_back(encoder_->embed(sentence));
  }

  const std::vector<Embedding>& results() const { return embeddings_; }

  static json other(const json& request) {
    const std::string what = request.at("do");
    if (what != "ids") throw std::runtime_error("what is " + what + "?");
    const std::string text = request.at("text");
    const std::filesystem::path vocabulary(request.at("vocabulary").get<std::string>());
    const std::filesystem::path tokenizer_file = vocabulary.parent_path() / "tokenizer.json";
    return {{"ids", ladon::Tokenizer(tokenizer_file).encode(text).ids}};
  }

 private:
  std::unique_ptr<minilm::SentenceEncoder> encoder_;
  std::vector<std::vector<TokenId>> sentences_;
  std::vector<Embedding> embeddings_;
  bool together_ = false;
};

}  // namespace

int main() { return ladon_bench::answer_lines<ladon_bench::ModelServer<Model>>(); }
