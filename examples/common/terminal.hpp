// Colour, where standard output goes to a terminal that has it.
#pragma once

#include <string>
#include <string_view>

namespace examples {

enum class Colour { none, indexed, full };  // no escape codes at all; the 256 of xterm; 24 bits

// None unless standard output is a terminal; NO_COLOR (no-color.org) and TERM=dumb are heeded.
Colour colour_of_output();

// The text on the ground that stands for this share of attention. Precondition: colour is not none.
std::string painted(std::string_view text, float share, Colour colour);

}  // namespace examples
