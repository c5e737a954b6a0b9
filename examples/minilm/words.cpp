#include "words.hpp"

#include <utf8proc.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace minilm {
namespace {

using CodePoint = utf8proc_int32_t;

constexpr CodePoint replacement = 0xFFFD;

void append(std::string& text, CodePoint code_point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto length = utf8proc_encode_char(code_point, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

// Takes one code point off the front. What is not UTF-8 is taken byte by byte; no byte of a broken
// sequence but the first can begin a good one, so nothing good is lost.
CodePoint take_code_point(std::string_view& text) {
  CodePoint code_point = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code_point);
  text.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : 1);
  return length > 0 ? code_point : replacement;
}

bool is_space(CodePoint c) {
  if (c == '\t' || c == '\n' || c == '\r') return true;
  const auto category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

// Asked after is_space: tab, LF and CR are of category Cc.
bool is_dropped(CodePoint c) {
  const auto category = utf8proc_category(c);
  return c == replacement || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

// The blocks that BERT's tokenizers know; later extensions are not among them. The gap before
// U+2B920 (extension E begins at U+2B820) is the one of the `tokenizers` library.
bool is_ideograph(CodePoint c) {
  constexpr std::array<std::pair<CodePoint, CodePoint>, 8> blocks{{{0x3400, 0x4DBF},
                                                                   {0x4E00, 0x9FFF},
                                                                   {0xF900, 0xFAFF},
                                                                   {0x20000, 0x2A6DF},
                                                                   {0x2A700, 0x2B73F},
                                                                   {0x2B740, 0x2B81F},
                                                                   {0x2B920, 0x2CEAF},
                                                                   {0x2F800, 0x2FA1F}}};
  for (const auto& [first, last] : blocks)
    if (first <= c && c <= last) return true;
  return false;
}

bool is_punctuation(CodePoint c) {
  const bool ascii_sign =
      ('!' <= c && c <= '/') || (':' <= c && c <= '@') || ('[' <= c && c <= '`') || ('{' <= c && c <= '~');
  if (ascii_sign) return true;
  const auto category = utf8proc_category(c);
  return UTF8PROC_CATEGORY_PC <= category && category <= UTF8PROC_CATEGORY_PO;
}

// Steps 1 and 2. The ideographs get their spaces before they are decomposed: the compatibility
// blocks decompose to others.
std::string clean(std::string_view text) {
  std::string cleaned;
  cleaned.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = take_code_point(text);
    if (is_space(c)) {
      cleaned += ' ';
    } else if (is_ideograph(c)) {
      cleaned += ' ';
      append(cleaned, c);
      cleaned += ' ';
    } else if (!is_dropped(c)) {
      append(cleaned, c);
    }
  }
  return cleaned;
}

std::vector<CodePoint> decompose(const std::string& text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  // A first call without room answers how much is needed.
  const auto needed = utf8proc_decompose(bytes, size, nullptr, 0, UTF8PROC_DECOMPOSE);
  if (needed < 0) throw std::length_error(utf8proc_errmsg(needed));
  std::vector<CodePoint> decomposed(static_cast<std::size_t>(needed));
  const auto written = utf8proc_decompose(bytes, size, decomposed.data(), needed, UTF8PROC_DECOMPOSE);
  if (written != needed) throw std::length_error(utf8proc_errmsg(written));
  return decomposed;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (const CodePoint decomposed : decompose(clean(text))) {
    if (utf8proc_category(decomposed) == UTF8PROC_CATEGORY_MN) continue;
    const CodePoint c = utf8proc_tolower(decomposed);
    if (c == ' ') {
      end_word();
    } else if (is_punctuation(c)) {
      end_word();
      append(word, c);
      end_word();
    } else {
      append(word, c);
    }
  }
  end_word();
  return words;
}

}  // namespace minilm
