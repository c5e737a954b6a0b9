// Maps a share from 0 to 1, such as an attention weight, to a colour or a character.
#pragma once

#include <cstdint>
#include <string_view>

namespace examples {

struct Rgb {
  std::uint8_t red, green, blue;
};

// Returns a colour of a scale from dark blue to bright yellow, with violet and orange in between. The lightness rises
// with the share, so the scale is readable in shades of grey, too.
Rgb heat(float share) noexcept;

// Returns the number of an xterm colour (0 to 255) that is similar to heat(share).
int heat_of_256(float share) noexcept;

// Returns whether heat(share) is bright, so that text on this colour must be dark.
bool is_bright(float share) noexcept;

// The characters that stand for shares on a terminal without colour: ' ' for the share 0, and '@' for the share 1.
// `shade` returns the character of a share.
inline constexpr std::string_view shades = " .:-=+*#%@";
char shade(float share) noexcept;

}  // namespace examples
