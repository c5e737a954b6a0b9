// Determines which colours standard output can show, and paints texts with a background colour.
#pragma once

#include <string>
#include <string_view>

namespace examples {

enum class Colour { none, indexed, full };  // no escape codes; the 256 colours of xterm; 24 bits

// Returns which colours the terminal shows. Returns Colour::none if standard output is not a terminal, NO_COLOR
// (no-color.org) is set, or TERM is empty or "dumb".
Colour colour_of_output();

// Returns the text on a background in the colour that palette.hpp gives to `share`. Precondition: `colour` is not
// Colour::none.
std::string painted(std::string_view text, float share, Colour colour);

}  // namespace examples
