// From a share of attention, 0 to 1, to what is drawn for it.
#pragma once

#include <cstdint>
#include <string_view>

namespace date_reader {

struct Rgb {
  std::uint8_t red, green, blue;
};

// Dark for none, over violet and orange to a bright yellow: lightness rises all the way, so it reads without colour.
Rgb heat(float share) noexcept;

// Much the same among the 256 colours of xterm, by number.
int heat_of_256(float share) noexcept;

// Whether dark ink is the readable one on this ground.
bool is_bright(float share) noexcept;

// The same with characters, for a terminal without colour.
inline constexpr std::string_view shades = " .:-=+*#%@";
char shade(float share) noexcept;

}  // namespace date_reader
