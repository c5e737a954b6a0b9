#include <doctest/doctest.h>

#include <random>
#include <string>

#include "printable.hpp"

namespace stories {

TEST_SUITE_BEGIN("printable");

TEST_CASE("of single bytes, printable ASCII and white space are written") {
  for (int value = 0; value < 256; ++value) {
    const char one = static_cast<char>(value);
    const bool shown = (value >= 0x20 && value < 0x7F) || (value >= 9 && value <= 13);
    CHECK(printable({&one, 1}) == std::string(shown ? 1 : 0, one));
  }
  CHECK(printable("").empty());
}

TEST_CASE("text in any language is written unchanged") {
  for (const std::string text : {"ab", " Once", "a\n", "\r\n", "\xc3\xa9", "caf\u00E9\u2026", "\u6771\u4EAC",
                                 "\U0001F642", "\u00A0", "\U0010FFFF", "\uFFFD", "~\xc2\xa0"}) {
    CAPTURE(text);
    CHECK(printable(text) == text);
  }
}

TEST_CASE("control characters and broken UTF-8 in longer pieces are escaped") {
  CHECK(printable("\x1b[2J") == "\\x1B[2J");
  CHECK(printable("a\x07\x7f") == "a\\x07\\x7F");
  CHECK(printable({"\0\0", 2}) == "\\x00\\x00");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xC2\\x9B31m");  // U+009B, a terminal's CSI
  CHECK(printable("\x9b"
                  "31m") == "\\x9B31m");                           // the CSI byte without UTF-8
  CHECK(printable("\xc3\xa9\xc3") == "\xc3\xa9\\xC3");             // truncated
  CHECK(printable("\xc0\x9b") == "\\xC0\\x9B");                    // overlong
  CHECK(printable("\xe0\x82\x9b") == "\\xE0\\x82\\x9B");           // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xED\\xA0\\x80");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xF4\\x90\\x80\\x80");  // beyond U+10FFFF
}

TEST_CASE("no bytes control a terminal") {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any_byte(0, 255), any_size(2, 12);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int size = any_size(random); size > 0; --size) text += static_cast<char>(any_byte(random));
    const std::string shown = escaped(text);
    CHECK(escaped(shown) == shown);  // nothing is left to escape
    for (const char c : shown) CHECK_FALSE((static_cast<unsigned char>(c) < 9 || c == '\x1b' || c == '\x7f'));
    CHECK(shown.find("\xc2\x9b") == std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace stories
