// Converts a share of attention, 0 to 1, to a colour or a character.
#pragma once

#include <cstdint>
#include <string_view>

namespace date_reader {

struct Rgb {
  std::uint8_t red, green, blue;
};

// Returns a colour from dark (0) over violet and orange to bright yellow (1). The lightness rises with the share, so
// the scale is readable without colour, too.
Rgb heat(float share) noexcept;

// Returns the number of a similar colour among the 256 colours of xterm.
int heat_of_256(float share) noexcept;

// Returns whether dark text is readable on the colour of this share.
bool is_bright(float share) noexcept;

// The characters for shares, for a terminal without colour.
inline constexpr std::string_view shades = " .:-=+*#%@";
char shade(float share) noexcept;

}  // namespace date_reader
