#include <doctest/doctest.h>

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

WordPiece small_tokenizer() {
  const TemporaryFolder folder;
  return WordPiece(folder.file("vocab.txt", "[UNK]\n[CLS]\n[SEP]\nthe\ndog\n##s\n##gy\n#\n"));
}

}  // namespace

TEST_SUITE_BEGIN("attention");

TEST_CASE("pieces are joined to words") {
  const WordPiece tokenizer = small_tokenizer();
  const auto ids = tokenizer.encode("The doggys, the ##dog", max_tokens);
  const auto words = words_of(ids, tokenizer, false);
  CHECK(labels_of(words) == std::vector<std::string>{"the", "doggys", "[UNK]", "the(2)", "#", "#(2)", "dog"});
  CHECK(words[1].first == 2);
  CHECK(words[1].count == 3);
  CHECK(words[2].first == 5);
  const auto all = words_of(ids, tokenizer, true);
  CHECK(all.size() == words.size() + 2);
  CHECK(all.front().text == "[CLS]");
  CHECK(all.back().text == "[SEP]");
  CHECK(words_of(tokenizer.encode("", max_tokens), tokenizer, false).empty());
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
