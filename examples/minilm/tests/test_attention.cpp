#include <doctest/doctest.h>

#include <ladon/tokenizer.hpp>
#include <numeric>
#include <vector>

#include "fixtures.hpp"
#include "terminal.hpp"
#include "word_attention.hpp"

namespace minilm {
namespace {

std::vector<std::string> labels_of(const std::vector<Word>& words) {
  std::vector<std::string> labels;
  for (const Word& word : words) labels.push_back(word.label);
  return labels;
}

ladon::Tokenizer small_tokenizer() {
  nlohmann::json description = read_json(std::filesystem::path(MINILM_DESCRIPTION) / tokenizer_file_name);
  description["added_tokens"] = nlohmann::json::array();
  description["model"]["vocab"] = {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}, {"the", 3},
                                   {"dog", 4},   {"##s", 5},   {"##gy", 6},  {"#", 7}};
  for (auto& [name, mark] : description["post_processor"]["special_tokens"].items())
    mark["ids"] = {name == "[CLS]" ? 1 : 2};
  const TemporaryFolder folder;
  return ladon::Tokenizer(folder.file(tokenizer_file_name, description.dump()));
}

}  // namespace

TEST_SUITE_BEGIN("attention");

TEST_CASE("pieces are joined to words") {
  const ladon::Tokenizer tokenizer = small_tokenizer();
  const auto ids = tokenizer.encode("The doggys, the ##dog").ids;
  const auto words = words_of(ids, tokenizer, false);
  CHECK(labels_of(words) == std::vector<std::string>{"the", "doggys", "[UNK]", "the(2)", "#", "#(2)", "dog"});
  CHECK(words[1].first == 2);
  CHECK(words[1].count == 3);
  CHECK(words[2].first == 5);
  const auto all = words_of(ids, tokenizer, true);
  CHECK(all.size() == words.size() + 2);
  CHECK(all.front().text == "[CLS]");
  CHECK(all.back().text == "[SEP]");
  CHECK(words_of(tokenizer.encode("").ids, tokenizer, false).empty());
}

TEST_CASE("attention of a word: the mean over its pieces; attention to a word: the sum over its pieces") {
  Attention attention;
  attention.tokens = 3;
  attention.weights.resize(layer_count * head_count * 9);
  std::iota(attention.weights.begin(), attention.weights.end(), 0.0f);
  const std::vector<Word> words{{"a", "a", 0, 1}, {"bc", "bc", 1, 2}};
  // `attention.weights` holds the numbers 0, 1, 2 and so on. Each head has a 3 x 3 matrix of weights, and each layer
  // has 12 heads, so head 2 of layer 1 has matrix 14. Matrix 14 begins with 14 * 9 = 126, so its rows begin with 126,
  // 129 and 132.
  CHECK(word_weights(attention, 1, 2, words[0], words) == std::vector<float>{126, 127 + 128});
  CHECK(word_weights(attention, 1, 2, words[1], words) ==
        std::vector<float>{(129 + 132) / 2.0f, (130 + 131 + 133 + 134) / 2.0f});
}

TEST_CASE("texts are truncated and padded by columns, not by bytes") {
  CHECK(fitted("abc", 5) == "abc  ");
  CHECK(fitted("abcdef", 5) == "abcd…");
  CHECK(fitted("\u00E9t\u00E9", 4) == "\u00E9t\u00E9 ");
  CHECK(fitted("\u6771\u4EAC", 4) == "\u6771\u4EAC");
  CHECK(fitted("\u6771\u4EAC\u90FD", 4) == "\u6771… ");
  CHECK(fitted("", 2) == "  ");
  CHECK(columns_of("e\u0301") == 1);
}

TEST_CASE("no text controls the terminal") {
  CHECK(printable("a\x1b[2Jb") == "a [2Jb");
  CHECK(printable("a\u202Eb\u2028c\n") == "ab c ");
  CHECK(printable("a\xff") == "a\uFFFD");
}

TEST_SUITE_END();

}  // namespace minilm
