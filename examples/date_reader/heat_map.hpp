// Pictures of the attention that each digit pays to the characters of the text.
#pragma once

#include <cstddef>
#include <string>

#include "reader.hpp"
#include "terminal.hpp"

namespace date_reader {

using examples::Colour;

// The head of a layer that points: the one whose digits look hard, and at different characters. Measured as the sum
// over the characters of the most that any digit looks at them. (The mean over the digits of the most that each looks
// at any character will not do: it is largest for a head with which all digits stare at one place.)
std::size_t pointing_head(const Attention& attention, std::size_t layer, std::size_t characters);

// One head for the terminal, at most 80 columns wide: a row a digit, with how sure it is; a column a character.
std::string terminal_picture(const Reading& reading, const Attention& attention, std::size_t layer, std::size_t head,
                             Colour colour);

// All heads of all layers as an SVG document.
std::string svg_picture(const Reading& reading, const Attention& attention);

}  // namespace date_reader
