#include "terminal.hpp"

#include <utf8proc.h>

#include <array>
#include <cstdio>

namespace minilm {
namespace {

struct Character {
  utf8proc_int32_t code_point;
  std::size_t bytes;
  std::size_t columns;
};

Character first_character(std::string_view text) {
  utf8proc_int32_t c = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &c);
  if (bytes <= 0) return {0xFFFD, 1, 1};
  return {c, static_cast<std::size_t>(bytes), static_cast<std::size_t>(utf8proc_charwidth(c))};
}

}  // namespace

std::string valid(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character next = first_character(text);
    const bool is_valid = next.code_point != 0xFFFD || next.bytes > 1;
    result += is_valid ? text.substr(0, next.bytes) : "\uFFFD";
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string printable(std::string_view text) {
  constexpr utf8proc_int32_t joiner = 0x200D;  // joins the parts of an emoji
  std::string shown;
  while (!text.empty()) {
    const auto [c, bytes, columns] = first_character(text);
    const auto category = utf8proc_category(c);
    if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP) {
      shown += ' ';
    } else if (c == joiner || category != UTF8PROC_CATEGORY_CF) {
      std::array<utf8proc_uint8_t, 4> encoded{};
      const auto length = utf8proc_encode_char(c, encoded.data());
      shown.append(reinterpret_cast<const char*>(encoded.data()), static_cast<std::size_t>(length));
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string fitted(std::string_view text, std::size_t columns) {
  const std::size_t all = columns_of(text);
  if (all <= columns) return std::string(text) + std::string(columns - all, ' ');
  std::string cut;
  std::size_t used = 1;  // the ellipsis
  while (true) {
    const Character next = first_character(text);
    if (used + next.columns > columns) break;
    used += next.columns;
    cut += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return cut + "…" + std::string(columns - used, ' ');
}

std::string fixed(float value, int digits) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, static_cast<double>(value));
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace minilm
