// SPDX-License-Identifier: Apache-2.0
// Tests ladon::Tokenizer with small files of three kinds. The expected ids are those of the Python package tokenizers
// 0.23.2 for the same files.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <ladon/tokenizer.hpp>
#include <nlohmann/json.hpp>

#include "testing/fixtures.hpp"

namespace ladon {
namespace {

using examples::TemporaryFolder, examples::error_of;
using Ids = std::vector<std::int32_t>;

const std::filesystem::path data = LADON_TOKENIZERS_DIR;

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

// Returns the tokenizer of BERT with a vocabulary that has one token in each line.
Tokenizer bert(const std::filesystem::path& vocabulary) {
  nlohmann::json json = read_json(data / "word_piece.json");
  nlohmann::json& ids = json["model"]["vocab"] = nlohmann::json::object();
  std::ifstream lines(vocabulary);
  for (std::string line; std::getline(lines, line);) ids[line] = ids.size();
  for (nlohmann::json& token : json["added_tokens"]) token["id"] = ids[token["content"]];
  for (nlohmann::json& token : json["post_processor"]["special_tokens"]) token["ids"] = {ids[token["id"]]};
  const TemporaryFolder folder;
  return Tokenizer(folder.file("tokenizer.json", json.dump()));
}

}  // namespace

TEST_SUITE_BEGIN("tokenizer");

TEST_CASE("WordPiece") {
  const Tokenizer tokenizer(data / "word_piece.json");
  const Tokenizer::Encoding encoding = tokenizer.encode("All is well!");  // the file asks for 4 ids, padded to 16
  CHECK(encoding.ids == Ids{2, 4, 5, 6, 11, 3});
  CHECK(encoding.type_ids == Ids(6, 0));
  CHECK(tokenizer.encode("unaffable Caf\xc3\xa9 xyz").ids == Ids{2, 7, 8, 9, 10, 1, 3});
  CHECK(tokenizer.encode("").ids == Ids{2, 3});
  CHECK(tokenizer.encode("well", {.special_tokens = false}).ids == Ids{6});
  CHECK(tokenizer.decode(encoding.ids) == "all is well!");
  CHECK(tokenizer.decode(encoding.ids, false) == "[CLS] all is well! [SEP]");
}

TEST_CASE("byte pairs") {
  const Tokenizer tokenizer(data / "byte_pairs.json");
  CHECK(tokenizer.encode("ab abc").ids == Ids{3, 4, 7});
  const Ids ids = tokenizer.encode("\xc3\xa9 ab's<|end|>").ids;
  CHECK(ids == Ids{5, 6, 4, 8, 11});
  CHECK(tokenizer.decode(ids) == "\xc3\xa9 ab's");
  CHECK(tokenizer.decode(ids, false) == "\xc3\xa9 ab's<|end|>");
}

TEST_CASE("unigram") {
  const Tokenizer tokenizer(data / "unigram.json");
  CHECK(tokenizer.encode("all is well").ids == Ids{3, 4, 2, 9, 1});
  CHECK(tokenizer.encode("al q").ids == Ids{2, 5, 2, 0, 1});
  CHECK(tokenizer.decode(Ids{3, 4, 2, 9, 1}) == "all is well");
  CHECK(tokenizer.decode(Ids{-1, 3, 1000}) == "all");
  CHECK(tokenizer.decode({}).empty());
}

TEST_CASE("a long text is cut before its special tokens") {
  const Tokenizer tokenizer(data / "word_piece.json");
  CHECK(tokenizer.encode("all is well", {.most_ids = 5}).ids == Ids{2, 4, 5, 6, 3});
  CHECK(tokenizer.encode("all is well", {.most_ids = 4}).ids == Ids{2, 4, 5, 3});
  CHECK(tokenizer.encode("all is well", {.most_ids = 2}).ids == Ids{2, 3});
  CHECK(tokenizer.encode("all is well", {.special_tokens = false, .most_ids = 2}).ids == Ids{4, 5});
  CHECK(error_of<Tokenizer::Error>([&] { (void)tokenizer.encode("all", {.most_ids = 1}); }) ==
        "there is room for 1 tokens, but 2 are special");
}

TEST_CASE("pairs of texts: BERT's have types, and a long pair is cut at the longer text first") {
  const Tokenizer tokenizer(data / "word_piece.json");
  const auto expect = [&](const Tokenizer::Encoding& pair, const Ids& ids, const Ids& type_ids) {
    CHECK(pair.ids == ids);
    CHECK(pair.type_ids == type_ids);
  };
  const char *all = "all is well!", *un = "unaffable";
  expect(tokenizer.encode_pair(all, un), {2, 4, 5, 6, 11, 3, 7, 8, 9, 3}, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  expect(tokenizer.encode_pair(all, {}), {2, 4, 5, 6, 11, 3, 3}, {0, 0, 0, 0, 0, 0, 1});
  expect(tokenizer.encode_pair(all, un, {.special_tokens = false}), {4, 5, 6, 11, 7, 8, 9}, {0, 0, 0, 0, 1, 1, 1});
  expect(tokenizer.encode_pair(all, un, {.most_ids = 9}), {2, 4, 5, 6, 3, 7, 8, 9, 3}, {0, 0, 0, 0, 0, 1, 1, 1, 1});
  expect(tokenizer.encode_pair(all, un, {.most_ids = 6}), {2, 4, 5, 3, 7, 3}, {0, 0, 0, 0, 1, 1});
  expect(tokenizer.encode_pair(all, un, {.most_ids = 3}), {2, 3, 3}, {0, 0, 1});
  expect(tokenizer.encode_pair("well", "all is well! cafe", {.most_ids = 6}), {2, 6, 3, 4, 5, 3}, {0, 0, 0, 1, 1, 1});
  expect(tokenizer.encode_pair(all, un, {.special_tokens = false, .most_ids = 4}), {4, 5, 7, 8}, {0, 0, 1, 1});
  CHECK(error_of<Tokenizer::Error>([&] { (void)tokenizer.encode_pair(all, un, {.most_ids = 2}); }) ==
        "there is room for 2 tokens, but 3 are special");
  CHECK(error_of<Tokenizer::Error>([&] { (void)tokenizer.encode_pair("all", "is \xff"); }) ==
        "the second text is not UTF-8 from byte 3 on");
}

TEST_CASE("pairs of texts: RoBERTa's have two separators and no types") {
  nlohmann::json json = read_json(data / "word_piece.json");
  json["post_processor"] = {{"type", "RobertaProcessing"},
                            {"sep", {"[SEP]", 3}},
                            {"cls", {"[CLS]", 2}},
                            {"trim_offsets", true},
                            {"add_prefix_space", false}};
  const TemporaryFolder folder;
  const Tokenizer tokenizer(folder.file("tokenizer.json", json.dump()));
  CHECK(tokenizer.encode_pair("all is", "well").ids == Ids{2, 4, 5, 3, 3, 6, 3});
  CHECK(tokenizer.encode_pair("all is", "well").type_ids == Ids(7, 0));
  CHECK(tokenizer.encode_pair("all is", "well", {.most_ids = 6}).ids == Ids{2, 4, 3, 3, 6, 3});
}

TEST_CASE("tokens and ids") {
  const Tokenizer tokenizer(data / "word_piece.json");
  CHECK(tokenizer.token(8) == "##aff");
  CHECK(tokenizer.id("[SEP]") == 3);
  CHECK(error_of<Tokenizer::Error>([&] { (void)tokenizer.token(12); }) == "the vocabulary has no token 12");
  CHECK(error_of<Tokenizer::Error>([&] { (void)tokenizer.token(-1); }) != "");
  CHECK(error_of<Tokenizer::Error>([&] { (void)tokenizer.id("zebra"); }) == "the vocabulary has no token \"zebra\"");
}

TEST_CASE("errors") {
  const Tokenizer tokenizer(data / "word_piece.json");
  CHECK(error_of<Tokenizer::Error>([&] { (void)tokenizer.encode("all \xff"); }) ==
        "the text is not UTF-8 from byte 4 on");
  const TemporaryFolder folder;
  const auto opening = [](const std::filesystem::path& file) {
    return error_of<Tokenizer::Error>([&] { const Tokenizer opened(file); });
  };
  CHECK(opening(folder.path() / "tokenizer.json").find("tokenizer.json") != std::string::npos);
  CHECK(opening(folder.file("empty.json", "")).find("empty.json: EOF") != std::string::npos);
  CHECK(opening(folder.file("cut.json", "{\"version\": \"1.0\", ")).find("cut.json: ") != std::string::npos);
  CHECK(opening(folder.file("other.json", "{\"version\": \"1.0\", \"model\": {\"type\": \"New\"}}")) != "");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("tokenizer_of_minilm");

TEST_CASE("the ids of recorded texts") {
  const char* shared = std::getenv("LADON_SHARED_DIR");
  const auto recorded =
      std::filesystem::path(shared != nullptr ? shared : LADON_SHARED_DIR) / "conformance/minilm.json";
  const char* model = std::getenv("LADON_MINILM_DIR");
  const char* home = std::getenv("HOME");
  const auto vocabulary =
      std::filesystem::path(model != nullptr ? model
                                             : std::string(home != nullptr ? home : "") + "/.cache/ladon/minilm") /
      "vocab.txt";
  LADON_SKIP_WITHOUT(recorded);
  LADON_SKIP_WITHOUT(vocabulary);
  const Tokenizer tokenizer = bert(vocabulary);
  for (const nlohmann::json& record : read_json(recorded)["cases"])
    CHECK(tokenizer.encode(record["text"].get<std::string>()).ids == record["ids"].get<Ids>());
}

TEST_SUITE_END();

}  // namespace ladon
