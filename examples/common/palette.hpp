// Colours and characters for a share, 0 to 1, such as a share of attention.
#pragma once

#include <cstdint>
#include <string_view>

namespace examples {

struct Rgb {
  std::uint8_t red, green, blue;
};

// From dark over violet and orange to bright yellow. Lightness rises all the way, so that grey scales show the same.
Rgb heat(float share) noexcept;

// Returns the number of a similar colour among the 256 colours of xterm.
int heat_of_256(float share) noexcept;

// Whether dark text is readable on the colour of this share.
bool is_bright(float share) noexcept;

// Characters for a terminal without colour.
inline constexpr std::string_view shades = " .:-=+*#%@";
char shade(float share) noexcept;

}  // namespace examples
