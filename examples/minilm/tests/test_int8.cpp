// Tests int8 and bfloat16 weights: compares the embeddings with the embeddings of float32 weights, and reads files that
// contain int8 weights.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <ladon/tokenizer.hpp>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "convert.hpp"
#include "fixtures.hpp"
#include "minilm.hpp"
#include "model_files.hpp"
#include "replace_file.hpp"

namespace minilm {
namespace {

std::vector<std::vector<TokenId>> sentences() {
  const ladon::Tokenizer tokenizer(default_model_folder() / tokenizer_file_name);
  std::vector<std::vector<TokenId>> ids;
  std::ifstream file(MINILM_SENTENCES);
  for (std::string line; std::getline(file, line);) ids.push_back(tokenizer.encode(line, {.most_ids = max_tokens}).ids);
  REQUIRE(ids.size() >= 200);
  return ids;
}

// Writes the file that `ladon-weights quantise` makes of the model, and returns its folder.
std::filesystem::path quantised_model(const TemporaryFolder& folder, const ladon::weights::Selection& selection = {}) {
  add_config(folder);
  const files::Safetensors file(model_file());
  const auto plan = ladon::weights::plan_conversion(file, "model", ladon::weights::Target::int8, selection);
  const auto path = folder.path() / model_file_name;
  files::replace_file(path.string(),
                      [&](const files::Sink& sink) { ladon::weights::write_converted(file, "model", plan, sink); });
  return folder.path();
}

SentenceEncoder int8_encoder(const std::filesystem::path& folder) { return SentenceEncoder(folder, Precision::int8); }

struct Cosines {
  double mean, smallest;
};

// Embeds every MINILM_SENTENCE_STEP-th sentence.
std::vector<Embedding> embeddings(SentenceEncoder encoder) {
  const auto texts = sentences();
  std::vector<Embedding> result;
  for (std::size_t i = 0; i < texts.size(); i += MINILM_SENTENCE_STEP) result.push_back(encoder.embed(texts[i]));
  return result;
}

// Compares `other` with the model that has float32 weights: returns the mean and the smallest cosine between the
// embeddings of both models.
Cosines cosines_to_float32(SentenceEncoder other) {
  static const std::vector<Embedding> exact = embeddings(SentenceEncoder(default_model_folder()));
  const std::vector<Embedding> found = embeddings(std::move(other));
  double sum = 0, smallest = 1;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto cosine = static_cast<double>(similarity(exact[i], found[i]));
    sum += cosine;
    smallest = std::min(smallest, cosine);
  }
  const Cosines cosines{sum / static_cast<double>(exact.size()), smallest};
  MESSAGE("mean cosine " << cosines.mean << ", smallest " << cosines.smallest);
  return cosines;
}

}  // namespace

TEST_SUITE_BEGIN("bfloat16");

TEST_CASE("embeddings of bfloat16 and float32 weights: mean cosine at least 0.9999, smallest at least 0.9995") {
  LADON_SKIP_WITHOUT(model_file());
  const Cosines cosines = cosines_to_float32(SentenceEncoder(default_model_folder(), Precision::bfloat16));
  CHECK(cosines.mean >= 0.9999);
  CHECK(cosines.smallest >= 0.9995);
  CHECK(cosines.smallest < 0.999999);  // proves that the encoder used bfloat16 weights
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("int8");

// The smallest cosine belongs to a text of four tokens. An embedding is a mean over the tokens, so the errors of many
// tokens nearly cancel, but the errors of four tokens do not.
TEST_CASE("embeddings of int8 and float32 weights: mean cosine at least 0.999, smallest at least 0.995") {
  LADON_SKIP_WITHOUT(model_file());
  const Cosines cosines = cosines_to_float32(int8_encoder(default_model_folder()));
  if (MINILM_SENTENCE_STEP == 1) CHECK(cosines.mean >= 0.999);
  CHECK(cosines.smallest >= 0.995);
  CHECK(cosines.smallest < 0.9999);  // proves that the encoder used int8 weights
}

TEST_CASE("embeddings of int8 weights that are not rotated: mean cosine at least 0.998, smallest at least 0.99") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  const Cosines cosines = cosines_to_float32(int8_encoder(quantised_model(folder)));
  if (MINILM_SENTENCE_STEP == 1) CHECK(cosines.mean >= 0.998);
  CHECK(cosines.smallest >= 0.99);
  CHECK(cosines.smallest < 0.9999);  // proves that the encoder used int8 weights
}

TEST_CASE("a file with int8 weights gives the bits of a float file that is quantised at load") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  ladon::weights::Selection selection;
  selection.rotate = true;
  const auto quantised = quantised_model(folder, selection);
  SentenceEncoder at_load = int8_encoder(default_model_folder()), in_place = int8_encoder(quantised);
  for (const std::size_t tokens : {3u, 20u, 100u}) {
    std::vector<TokenId> ids(tokens);
    for (std::size_t i = 0; i < tokens; ++i) ids[i] = static_cast<TokenId>(2000 + 13 * i);
    CHECK(in_place.embed(ids) == at_load.embed(ids));
  }
  CHECK_THROWS_AS(SentenceEncoder{quantised}, ladon::safetensors::Error);
}

TEST_CASE("a file with int8 weights in some linear layers only is refused, with the name of the first float one") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  ladon::weights::Selection selection;
  selection.keep.emplace_back("layer.3.output.dense");
  CHECK_THROWS_WITH_AS(int8_encoder(quantised_model(folder, selection)),
                       doctest::Contains("encoder.layer.3.output.dense.weight"), ladon::safetensors::Error);
}

TEST_SUITE_END();

}  // namespace minilm
