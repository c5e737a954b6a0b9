// Compares the embeddings of bfloat16 and int8 weights with those of float32 weights.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <ladon/tokenizer.hpp>

#include "convert.hpp"
#include "fixtures.hpp"
#include "replace_file.hpp"

namespace minilm {
namespace {

// Writes the file that `ladon-weights quantise` makes of the model, and returns its folder.
std::filesystem::path quantised(const TemporaryFolder& folder, const ladon::weights::Selection& selection) {
  add_description(folder, "config.json");
  const files::Safetensors file(model_file());
  const auto plan = ladon::weights::plan_conversion(file, "model", ladon::weights::Target::int8, selection);
  files::replace_file((folder.path() / "model.safetensors").string(),
                      [&](const files::Sink& sink) { ladon::weights::write_converted(file, "model", plan, sink); });
  return folder.path();
}

// Embeds every MINILM_SENTENCE_STEP-th sentence.
std::vector<Embedding> embeddings(const std::filesystem::path& folder, const char* precision) {
  const ladon::Tokenizer tokenizer(default_folder() / "tokenizer.json");
  SentenceEncoder encoder(folder, precision);
  std::ifstream file(MINILM_SENTENCES);
  std::vector<Embedding> result;
  std::size_t sentences = 0;
  for (std::string line; std::getline(file, line); ++sentences)
    if (sentences % MINILM_SENTENCE_STEP == 0) result.push_back(encoder.embed(tokenizer.encode(line).ids));
  REQUIRE(sentences == 256);
  return result;
}

// A smallest cosine below `below` proves that the encoder did not use float32 weights.
void check_cosines(const std::vector<Embedding>& found, double mean, double smallest, double below) {
  static const std::vector<Embedding> exact = embeddings(default_folder(), "float32");
  double sum = 0, least = 1;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto cosine = static_cast<double>(similarity(exact[i], found.at(i)));
    sum += cosine;
    least = std::min(least, cosine);
  }
  MESSAGE("mean cosine " << sum / static_cast<double>(exact.size()) << ", smallest " << least);
  if (MINILM_SENTENCE_STEP == 1) CHECK(sum / static_cast<double>(exact.size()) >= mean);
  CHECK(least >= smallest);
  CHECK(least < below);
}

}  // namespace

TEST_SUITE_BEGIN("precision");

// The smallest cosine belongs to a text of four tokens. An embedding is a mean over the tokens, so the errors of many
// tokens nearly cancel, but the errors of four tokens do not.
TEST_CASE("cosines between the embeddings of bfloat16 or int8 weights and those of float32 weights") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder plain, rotated;
  check_cosines(embeddings(default_folder(), "bfloat16"), 0.9999, 0.9995, 0.999999);
  check_cosines(embeddings(quantised(plain, {}), "int8"), 0.998, 0.99, 0.9999);
  const std::vector<Embedding> at_load = embeddings(default_folder(), "int8");
  check_cosines(at_load, 0.999, 0.995, 0.9999);
  ladon::weights::Selection selection;
  selection.rotate = true;
  CHECK(embeddings(quantised(rotated, selection), "int8") == at_load);
}

TEST_CASE("files and precisions that do not fit are refused") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  ladon::weights::Selection selection;
  selection.keep.emplace_back("layer.3.output.dense");
  const auto partly_int8 = quantised(folder, selection);
  CHECK_THROWS_WITH_AS(SentenceEncoder(partly_int8, "int8"), doctest::Contains("encoder.layer.3.output.dense.weight"),
                       Error);
  CHECK_THROWS_WITH_AS(SentenceEncoder{partly_int8}, doctest::Contains("layer.0"), Error);
  CHECK_THROWS_WITH_AS(SentenceEncoder(default_folder(), "int4"), doctest::Contains("found int4"), Error);
}

TEST_SUITE_END();

}  // namespace minilm
