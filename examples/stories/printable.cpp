#include "printable.hpp"

#include <cstddef>
#include <cstdint>

namespace stories {
namespace {

unsigned char first_byte(std::string_view text) { return static_cast<unsigned char>(text.front()); }

bool is_shown_ascii(unsigned char byte) { return (byte >= ' ' && byte <= '~') || (byte >= '\t' && byte <= '\r'); }

// Returns the length in bytes of a code point, from its first byte. Returns 0 if the byte begins no code point.
std::size_t announced_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

bool is_scalar_value(std::uint32_t code_point, std::size_t length) {
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // a smaller code point has a shorter encoding
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  return code_point >= least[length] && code_point <= 0x10FFFF && !is_surrogate;
}

// Returns the length in bytes of the first code point. Returns 0 if the text does not begin with a code point, or if
// the code point is a control character.
std::size_t shown_length(std::string_view text) {
  const std::size_t length = announced_length(first_byte(text));
  if (length == 1) return is_shown_ascii(first_byte(text)) ? 1 : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t code_point = first_byte(text) & (0x7FU >> length);
  for (const char byte : text.substr(1, length - 1)) {
    if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) return 0;
    code_point = code_point << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  constexpr std::uint32_t last_control = 0x9F;
  return is_scalar_value(code_point, length) && code_point > last_control ? length : 0;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = shown_length(text);
    if (length > 0) {
      shown += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      const unsigned byte = first_byte(text);
      shown.append("\\x").append(1, digits[byte / 16]).append(1, digits[byte % 16]);
      text.remove_prefix(1);
    }
  }
  return shown;
}

std::string printable(std::string_view piece) {
  if (piece.size() == 1) return is_shown_ascii(first_byte(piece)) ? std::string(piece) : "";
  return escaped(piece);
}

}  // namespace stories
