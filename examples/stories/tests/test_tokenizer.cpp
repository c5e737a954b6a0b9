#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "small_vocabulary.hpp"
#include "tokenizer.hpp"

namespace stories {
namespace {

// The ids of the pieces in `letters`, in the same order. In every vocabulary, the ids 0 to 258 belong to the marks and
// the bytes.
enum : TokenId { space = 259, a, b, c, e_acute, ab, bc, abc, bcab, space_a, aa };
const std::vector<VocabularyEntry> letters{
    {" ", -9},  {"a", -9},  {"b", -9},   {"c", -9},     {"\xc3\xa9", -9}, {"ab", -2},
    {"bc", -1}, {"abc", 5}, {"bcab", 9}, {" a", -3.5f}, {"aa", -2},
};

TokenId byte(unsigned char value) { return first_byte_token + value; }

Tokenizer small_tokenizer(const std::vector<VocabularyEntry>& entries = vocabulary_with(letters)) {
  // The destructor of `folder` removes the file when this function returns. The returned tokenizer must therefore own a
  // copy of the file.
  const TemporaryFolder folder;
  return Tokenizer(folder.file("tokenizer.bin", tokenizer_bytes(entries)));
}

std::string tokenizer_error(const std::string& content) {
  return error_of_loading<Tokenizer>("tokenizer.bin", content);
}

std::string tokenizer_error(std::size_t changed, const VocabularyEntry& entry) {
  auto entries = vocabulary_with(letters);
  entries.at(changed) = entry;
  return tokenizer_error(tokenizer_bytes(entries));
}

std::string decoded(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens) {
  std::string text;
  for (std::size_t i = 1; i < tokens.size(); ++i) text += tokenizer.decode(tokens[i - 1], tokens[i]);
  return text;
}

using Tokens = std::vector<TokenId>;

}  // namespace

TEST_SUITE_BEGIN("tokenizer");

TEST_CASE("a text begins with its mark and an added space") {
  const Tokenizer tokenizer = small_tokenizer();
  CHECK(tokenizer.encode("") == Tokens{begin_token});
  CHECK(tokenizer.encode("b") == Tokens{begin_token, space, b});
  CHECK(tokenizer.encode("a") == Tokens{begin_token, space_a});
  CHECK(tokenizer.encode(" b") == Tokens{begin_token, space, space, b});
  CHECK(tokenizer.encode(" ") == Tokens{begin_token, space, space});
}

TEST_CASE("the pair with the best score is joined first, and the first of equal pairs") {
  const Tokenizer tokenizer = small_tokenizer();
  CHECK(tokenizer.encode("bca") == Tokens{begin_token, space, bc, a});
  CHECK(tokenizer.encode("abc") == Tokens{begin_token, space, abc});          // first bc, then abc, and not " a"
  CHECK(tokenizer.encode("bcab") == Tokens{begin_token, space, bcab});        // bc, ab, and then bcab
  CHECK(tokenizer.encode("baaab") == Tokens{begin_token, space, b, aa, ab});  // the first two letters a, then ab
  CHECK(tokenizer.encode("aab") == Tokens{begin_token, space, aa, b});        // aa and ab have equal scores
  CHECK(tokenizer.encode("bbcc") == Tokens{begin_token, space, b, bc, c});
}

TEST_CASE("a code point that the vocabulary lacks becomes one token for each byte") {
  const Tokenizer tokenizer = small_tokenizer();
  CHECK(tokenizer.encode("\xc3\xa9z") == Tokens{begin_token, space, e_acute, byte('z')});
  CHECK(tokenizer.encode("\xe2\x82\xac") == Tokens{begin_token, space, byte(0xE2), byte(0x82), byte(0xAC)});
  CHECK(tokenizer.encode("\n") == Tokens{begin_token, space, byte('\n')});
  CHECK(tokenizer.encode("\xff\x80") == Tokens{begin_token, space, byte(0xFF), byte(0x80)});
  // The tokenizer joins up to three continuation bytes to the byte before them, whatever this byte is. Here, 0x80 is
  // joined to the letter a.
  CHECK(tokenizer.encode("a\x80") == Tokens{begin_token, space, byte('a'), byte(0x80)});
  CHECK(tokenizer.encode("\xc3") == Tokens{begin_token, space, byte(0xC3)});
  CHECK(tokenizer.encode("\x80\x80\x80\x80\x80"
                         "b") ==
        Tokens{begin_token, space, byte(0x80), byte(0x80), byte(0x80), byte(0x80), byte(0x80), b});
  CHECK(tokenizer.encode(std::string(1, '\0')) == Tokens{begin_token, space, byte(0)});
  // A text that looks like the name of a byte token is encoded as plain text.
  CHECK(tokenizer.encode("<0x41>").size() == 8);
}

TEST_CASE("tokens are decoded to the text, without the added space") {
  const Tokenizer tokenizer = small_tokenizer();
  CHECK(tokenizer.decode(begin_token, space_a) == "a");
  CHECK(tokenizer.decode(a, space_a) == " a");
  CHECK(tokenizer.decode(begin_token, space).empty());
  CHECK(tokenizer.decode(a, byte(0xFF)) == "\xff");
  CHECK(tokenizer.decode(a, byte(0)) == std::string_view("\0", 1));
  CHECK(tokenizer.decode(a, 2) == "</s>");
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any_byte(0, 255), any_kind(0, 3), any_letter('a', 'c');
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (int i = 0; i < round % 50; ++i)
      text += static_cast<char>(any_kind(random) == 0 ? any_byte(random) : any_letter(random));
    CHECK(decoded(tokenizer, tokenizer.encode(text)) == text);
  }
}

TEST_CASE("the time grows in proportion to the text") {
  const Tokenizer tokenizer = small_tokenizer();
  const std::string text(300'000, 'a');
  CHECK(decoded(tokenizer, tokenizer.encode(text)) == text);
}

TEST_CASE("files that are not the vocabulary of this model are refused") {
  const std::string right = tokenizer_bytes(vocabulary_with(letters));
  CHECK(tokenizer_error(right).empty());
  check_says(tokenizer_error(""), "tokenizer.bin: expected the length of the longest token (4 bytes), found its end");
  check_says(tokenizer_error(right.substr(0, 3)), "found 3 more bytes");
  check_says(tokenizer_error(right.substr(0, 4)), "expected the score of token 0 of 512 (4 bytes), found its end");
  check_says(tokenizer_error(right.substr(0, 10)),
             "expected the length of token 0 of 512 (4 bytes), found 2 more bytes");
  check_says(tokenizer_error(right.substr(0, right.size() - 1)),
             "expected token 511 of 512 (5 bytes), found 4 more bytes");
  check_says(tokenizer_error(right + "xy"), "expected the end of the file after 512 tokens, found 2 more bytes");
  for (std::size_t length = 0; length < right.size(); length += 97)
    CHECK(tokenizer_error(right.substr(0, length)) != "");
  check_says(tokenizer_error(300, {"", 0}), "expected for token 300 of 512 a length from 1 to 8, found 0");
  check_says(tokenizer_error(300, {"123456789", 0}), "expected for token 300 of 512 a length from 1 to 8, found 9");
  check_says(tokenizer_error(first_byte_token + 10, {"\n", 0}), "expected \"<0x0A>\" as token 13, found \"\n\"");
  check_says(tokenizer_error(first_byte_token, {"\x1b[2J\xff", 0}), "as token 3, found \"\\x1B[2J\\xFF\"");
  check_says(tokenizer_error(space, {"_", 0}), "expected a token \" \", found none");
  const TemporaryFolder folder;
  CHECK_THROWS_AS(Tokenizer(folder.path() / "absent"), examples::Error);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("vocabulary");

TEST_CASE("the vocabulary of the model") {
  LADON_SKIP_WITHOUT(tokenizer_file());
  const Tokenizer tokenizer(tokenizer_file());
  CHECK(tokenizer.encode("Once upon a time").size() == 5);
  CHECK(tokenizer.piece(tokenizer.encode("Once upon a time")[1]) == " Once");
  for (const std::string text : {"Once upon a time, there was a caf\u00E9\u2026", "\u6771\u4EAC \U0001F642\n\t!",
                                 " two  spaces ", "\u201Chi\u201D"})
    CHECK(decoded(tokenizer, tokenizer.encode(text)) == text);
}

TEST_SUITE_END();

}  // namespace stories
