#include "words.hpp"

#include <utf8proc.h>

#include <array>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace minilm {
namespace {

using CodePoint = utf8proc_int32_t;

constexpr CodePoint replacement = 0xFFFD;

void append(std::string& text, CodePoint code_point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto length = utf8proc_encode_char(code_point, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

// Takes one code point from the front. Bytes that are not UTF-8 are taken one by one. Only the first byte of a broken
// sequence is lost, so a valid sequence after it is kept.
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

// Returns whether the code point is removed from a text. Call is_space before this function, because tab, LF and CR
// have the category Cc, but are spaces.
bool is_dropped(CodePoint c) {
  const auto category = utf8proc_category(c);
  return c == replacement || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

// Returns whether the code point is in one of the CJK blocks that BERT's tokenizers know. Later CJK extensions are left
// out. As in the `tokenizers` library, the block of extension E begins at U+2B920, and not at U+2B820.
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

// Makes words of the cleaned code points: steps 3 to 5 of each_word (words.hpp).
class WordMaker {
 public:
  explicit WordMaker(const std::function<bool(const std::string&)>& take) : take_(take) {}

  [[nodiscard]] bool is_finished() const { return is_finished_; }

  // Decomposes one code point and adds its parts. utf8proc_decompose() could decompose the whole text at once, but
  // sorts accents in quadratic time.
  void put_decomposed(CodePoint c) {
    constexpr utf8proc_ssize_t most = 8;  // no canonical decomposition has more than 4 code points
    std::array<CodePoint, most> parts{};
    const auto count = utf8proc_decompose_char(c, parts.data(), most, UTF8PROC_DECOMPOSE, nullptr);
    if (count < 0 || count > most) throw std::length_error(utf8proc_errmsg(count));
    for (utf8proc_ssize_t i = 0; i < count; ++i) put(parts[static_cast<std::size_t>(i)]);
  }

  // Adds a decomposed code point. Marks (combining class above 0) wait until the end of a run of marks, because the
  // canonical order sorts the marks of a run.
  void put(CodePoint c) {
    const auto* property = utf8proc_get_property(c);
    const bool is_accent = property->category == UTF8PROC_CATEGORY_MN;
    if (property->combining_class == 0) end_marks();
    if (is_accent) return;
    if (property->combining_class != 0) {
      marks_[property->combining_class].push_back(c);
    } else {
      append_to_word(utf8proc_tolower(c));
    }
  }

  void finish() {
    end_marks();
    end_word();
  }

 private:
  void end_marks() {
    for (const auto& [combining_class, marks] : marks_)
      for (const CodePoint mark : marks) append_to_word(utf8proc_tolower(mark));
    marks_.clear();
  }

  void append_to_word(CodePoint c) {
    if (c == ' ') {
      end_word();
    } else if (is_punctuation(c)) {
      end_word();
      append(word_, c);
      end_word();
    } else {
      append(word_, c);
    }
  }

  void end_word() {
    if (!word_.empty() && !is_finished_) is_finished_ = !take_(word_);
    word_.clear();
  }

  const std::function<bool(const std::string&)>& take_;
  std::string word_;
  std::map<int, std::vector<CodePoint>> marks_;  // the waiting marks of each class
  bool is_finished_ = false;
};

}  // namespace

// Computes steps 1 and 2 of words.hpp. is_ideograph must check a code point before step 3 decomposes it, because a
// compatibility ideograph (U+F900 to U+FAFF) decomposes to an ideograph of a different block.
void each_word(std::string_view text, const std::function<bool(const std::string& word)>& take) {
  WordMaker words(take);
  while (!text.empty() && !words.is_finished()) {
    const CodePoint c = take_code_point(text);
    if (is_space(c)) {
      words.put(' ');
    } else if (is_ideograph(c)) {
      words.put(' ');
      words.put_decomposed(c);
      words.put(' ');
    } else if (!is_dropped(c)) {
      words.put_decomposed(c);
    }
  }
  words.finish();
}

}  // namespace minilm
