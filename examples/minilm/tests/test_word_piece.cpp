#include <doctest/doctest.h>

#include <ctime>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "minilm.hpp"
#include "model_error.hpp"
#include "word_piece.hpp"
#include "words.hpp"

namespace minilm {
namespace {

using Words = std::vector<std::string>;
using Pieces = std::vector<std::string>;

Words split_words(std::string_view text) {
  Words words;
  each_word(text, [&](const std::string& word) {
    words.push_back(word);
    return true;
  });
  return words;
}

WordPiece tokenizer_of(const std::string& vocabulary) {
  const TemporaryFolder folder;
  return WordPiece(folder.file("vocab.txt", vocabulary));
}

Pieces pieces_of(const WordPiece& tokenizer, std::string_view text, std::size_t max_tokens = 256) {
  Pieces pieces;
  for (const TokenId id : tokenizer.encode(text, max_tokens)) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

}  // namespace

TEST_SUITE_BEGIN("word_piece");

TEST_CASE("words end at whitespace of every kind") {
  CHECK(split_words("").empty());
  CHECK(split_words(" \t\r\n ").empty());
  CHECK(split_words("a b\tc\nd\re\r\nf") == Words{"a", "b", "c", "d", "e", "f"});
  // The separators are a no-break space, an em space, an ideographic space, a line separator, a paragraph separator and
  // an ogham space mark.
  CHECK(split_words("a\u00A0b\u2003c\u3000d\u2028e\u2029f\u1680g") == Words{"a", "b", "c", "d", "e", "f", "g"});
}

TEST_CASE("controls, format signs, private signs and U+FFFD are removed without ending a word") {
  using namespace std::string_view_literals;
  CHECK(split_words("a\0b\x07"
                    "c\x7f"
                    "d\x0b"
                    "e\x0c"
                    "f\u0085g\uFFFDh"sv) == Words{"abcdefgh"});
  CHECK(split_words("a\u200Bb\u200Dc\uFEFFd\u00ADe\u202Ef") == Words{"abcdef"});
  CHECK(split_words("a\uE000b\uF8FFc\U000F0000d\U0010FFFDe") == Words{"abcde"});
  CHECK(split_words("a\u180Eb") == Words{"ab"});  // U+180E was a space in old Unicode, and is a format sign (Cf) now
}

TEST_CASE("bytes that are not UTF-8 are removed, and all other bytes are kept") {
  CHECK(split_words("a\xff"
                    "b") == Words{"ab"});
  CHECK(split_words("a\xc3 b") == Words{"a", "b"});               // truncated, then a space
  CHECK(split_words("\xe6\x9d").empty());                         // truncated at the end
  CHECK(split_words("\xe6\x9d\xe6\x9d\xb1") == Words{"\u6771"});  // truncated, then complete
  CHECK(split_words("a\xc0\x80"
                    "b") == Words{"ab"});  // overlong
  CHECK(split_words("a\xed\xa0\x80"
                    "b") == Words{"ab"});  // a surrogate
  CHECK(split_words("a\xf4\x90\x80\x80"
                    "b") == Words{"ab"});  // beyond U+10FFFF
  CHECK(split_words("\x80\xbf"
                    "a") == Words{"a"});
}

TEST_CASE("a CJK ideograph is a word, kana and Hangul are not split") {
  CHECK(split_words("a\u6771\u4EACb") == Words{"a", "\u6771", "\u4EAC", "b"});
  CHECK(split_words("\U00020000\U0002A700") == Words{"\U00020000", "\U0002A700"});
  CHECK(split_words("\uF900") == Words{"\u8C48"});  // a compatibility ideograph decomposes
  CHECK(split_words("\u306F\u306E") == Words{"\u306F\u306E"});
  CHECK(split_words("\uD55C") == Words{"\u1112\u1161\u11AB"});  // a syllable decomposes
}

TEST_CASE("accents are removed, compatibility forms are kept") {
  CHECK(split_words("D\u00E9j\u00E0 e\u0301 \u00C5\u212B \u01D8") == Words{"deja", "e", "aa", "u"});
  CHECK(split_words("\uFB01 \u2167 \u00BD \u00B2") == Words{"\uFB01", "\u2177", "\u00BD", "\u00B2"});
  CHECK(split_words("\u093F") == Words{"\u093F"});  // a spacing mark (Mc) is kept
  CHECK(split_words("\u20DD") == Words{"\u20DD"});  // an enclosing mark (Me) is kept
  CHECK(split_words("a\u0301").size() == 1);
  CHECK(split_words("\u0301\u0301").empty());  // a text of accents only has no word
}

TEST_CASE("lower case is computed code point by code point") {
  CHECK(split_words("ABC \u00DCBER") == Words{"abc", "uber"});
  CHECK(split_words("\u0130I") == Words{"ii"});
  CHECK(split_words("\u03A3\u0391\u03A3") == Words{"\u03C3\u03B1\u03C3"});  // the last letter is not the final sigma
  CHECK(split_words("stra\u00DFe \u1E9E") == Words{"stra\u00DFe", "\u00DF"});
  CHECK(split_words("\u0401\u041B\u041A\u0410") == Words{"\u0435\u043B\u043A\u0430"});
}

TEST_CASE("each punctuation sign is a word") {
  CHECK(split_words("don't") == Words{"don", "'", "t"});
  CHECK(split_words("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").size() == 32);
  CHECK(split_words("\u201Ca\u201D\u2014b\u2026") == Words{"\u201C", "a", "\u201D", "\u2014", "b", "\u2026"});
  CHECK(split_words("\u3002a\u00BF") == Words{"\u3002", "a", "\u00BF"});
  CHECK(split_words("a\u20ACb\u00A9c") == Words{"a\u20ACb\u00A9c"});  // other symbols are part of words
  CHECK(split_words("[SEP]") == Words{"[", "sep", "]"});              // plain text, not the special token
  CHECK(split_words("a\u037Eb") == Words{"a", ";", "b"});             // the Greek question mark decomposes
}

TEST_CASE("a word is split into the longest known pieces") {
  const auto tokenizer =
      tokenizer_of("[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n##a\nunaf\n##f\n.\n\u6771\n##\u00DF\ns\n");
  CHECK(tokenizer.encode("", 256) == std::vector<TokenId>{2, 3});
  CHECK(pieces_of(tokenizer, "Unaffable.") == Pieces{"[CLS]", "unaf", "##f", "##able", ".", "[SEP]"});
  CHECK(pieces_of(tokenizer, "unaffx s") == Pieces{"[CLS]", "[UNK]", "s", "[SEP]"});
  CHECK(pieces_of(tokenizer, "aff") == Pieces{"[CLS]", "[UNK]", "[SEP]"});
  CHECK(pieces_of(tokenizer, "s\u00DF\u6771") == Pieces{"[CLS]", "s", "##\u00DF", "\u6771", "[SEP]"});
  CHECK(pieces_of(tokenizer, "un \xff un") == Pieces{"[CLS]", "un", "un", "[SEP]"});
  // "##" in a text is not the mark of a continuation: each '#' becomes a word.
  CHECK(pieces_of(tokenizer, "##able") == Pieces{"[CLS]", "[UNK]", "[UNK]", "[UNK]", "[SEP]"});
}

TEST_CASE("a word of more than 100 code points is unknown") {
  const auto tokenizer = tokenizer_of("[UNK]\n[CLS]\n[SEP]\na\n##a\n\u00DF\n##\u00DF\n");
  CHECK(tokenizer.encode(std::string(100, 'a'), 256).size() == 102);
  CHECK(tokenizer.encode(std::string(101, 'a'), 256) == std::vector<TokenId>{1, 0, 2});
  std::string sharp;
  for (int i = 0; i < 100; ++i) sharp += "\u00DF";
  CHECK(tokenizer.encode(sharp, 256).size() == 102);
  CHECK(tokenizer.encode(sharp + "a", 256) == std::vector<TokenId>{1, 0, 2});
}

TEST_CASE("a long text is truncated before [SEP]") {
  const auto tokenizer = tokenizer_of("[UNK]\n[CLS]\n[SEP]\na\n##a\n");
  CHECK(pieces_of(tokenizer, "a a a a a", 5) == Pieces{"[CLS]", "a", "a", "a", "[SEP]"});
  CHECK(pieces_of(tokenizer, "a aaaa", 5) == Pieces{"[CLS]", "a", "a", "##a", "[SEP]"});
  CHECK(pieces_of(tokenizer, "a a a", 5) == Pieces{"[CLS]", "a", "a", "a", "[SEP]"});
  CHECK(pieces_of(tokenizer, "a", 2) == Pieces{"[CLS]", "[SEP]"});
  std::string words;
  for (int i = 0; i < 1000; ++i) words += "a ";
  CHECK(tokenizer.encode(words, 256).size() == 256);
  CHECK(tokenizer.encode(words, 256).back() == 2);
}

TEST_CASE("the remaining marks are in canonical order, and a starter ends a run of marks") {
  // U+1D165 (combining class 216) and U+302E (class 224) are spacing marks, which the tokenizer keeps. U+0334 (class 1)
  // is an accent, which the tokenizer removes. The canonical order sorts consecutive marks by their classes.
  CHECK(split_words("a\u302E\U0001D165") == Words{"a\U0001D165\u302E"});
  CHECK(split_words("a\u302E\u0334\U0001D165") == Words{"a\U0001D165\u302E"});
  CHECK(split_words("a\u302E\u302F\u302E") == Words{"a\u302E\u302F\u302E"});  // equal classes keep their order
  CHECK(split_words("a\u302Eb\U0001D165") == Words{"a\u302Eb\U0001D165"});
  CHECK(split_words("a\u302E\u034F\U0001D165") == Words{"a\u302E\U0001D165"});  // U+034F (class 0, Mn) ends the run
  CHECK(split_words("a\u302E \U0001D165") == Words{"a\u302E", "\U0001D165"});
  CHECK(split_words("a\u302E") == Words{"a\u302E"});  // at the end of the text
}

TEST_CASE("a text of combining marks takes time in proportion to its length") {
  const auto tokenizer = tokenizer_of("[UNK]\n[CLS]\n[SEP]\na\n##a\n");
  // The text has marks of two combining classes: first all marks of class 220, then all marks of class 1. The canonical
  // order sorts them by ascending class. A sort that swaps neighbours would take minutes for these 600 KB.
  std::string marks = "a";
  for (int i = 0; i < 150'000; ++i) marks += "\u0316";
  for (int i = 0; i < 150'000; ++i) marks += "\u0334";
  const std::clock_t start = std::clock();
  CHECK(pieces_of(tokenizer, marks) == Pieces{"[CLS]", "a", "[SEP]"});
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 10);
}

TEST_CASE("a text is read only up to its last used token") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "a ";
  std::size_t words = 0;
  each_word(text, [&](const std::string& word) {
    CHECK(word == "a");
    return ++words < 3;
  });
  CHECK(words == 3);
}

TEST_CASE("vocabularies with Windows line ends, or without an end, are read") {
  const auto tokenizer = tokenizer_of("[UNK]\r\n[CLS]\r\n[SEP]\r\na");
  CHECK(tokenizer.size() == 4);
  CHECK(tokenizer.encode("a", 256) == std::vector<TokenId>{1, 3, 2});
}

TEST_CASE("the error for a missing or invalid vocabulary names the file") {
  const TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& path) {
    try {
      const WordPiece tokenizer(path);
    } catch (const ModelError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(folder.path() / "vocab.txt").find("vocab.txt: cannot be opened") != std::string::npos);
  CHECK(message(folder.file("v.txt", "[UNK]\n[CLS]\n")).find("v.txt: expected a line [SEP], found none in 2 lines") !=
        std::string::npos);
  CHECK_FALSE(message(folder.path()).empty());
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("word_piece_conformance");

TEST_CASE("the ids of every conformance text") {
  const auto vocabulary = default_model_folder() / vocabulary_file_name;
  LADON_SKIP_WITHOUT(conformance_file());
  LADON_SKIP_WITHOUT(vocabulary);
  const WordPiece tokenizer(vocabulary);
  const nlohmann::json data = read_json(conformance_file());
  std::size_t texts = 0;
  for (const char* part : {"cases", "tokenizer"}) {
    for (const auto& expected : data.at(part)) {
      const auto text = expected.at("text").get<std::string>();
      CAPTURE(text);
      CHECK(tokenizer.encode(text, max_tokens) == expected.at("ids").get<std::vector<TokenId>>());
      ++texts;
    }
  }
  CHECK(texts > 30);
}

TEST_SUITE_END();

}  // namespace minilm
