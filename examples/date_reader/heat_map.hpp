// Draws how much each digit of the date attends to each character of the text.
#pragma once

#include <cstddef>
#include <string>

#include "reader.hpp"
#include "terminal.hpp"

namespace date_reader {

using examples::Colour;

// Returns the number of the head in `layer` whose digits together attend to the largest number of characters. For each
// character of the text, the function takes the largest attention weight that any digit gives to the character. The
// head with the largest sum of these weights is the result. (A sum over the digits would also be large if all digits
// attended to one character.)
std::size_t pointing_head(const Attention& attention, std::size_t layer, std::size_t characters);

// Returns a picture of one head for the terminal, at most 80 columns wide. Each row is a digit of the date with the
// digit's probability. Each column is a character of the text.
std::string terminal_picture(const Reading& reading, const Attention& attention, std::size_t layer, std::size_t head,
                             Colour colour);

// Returns all heads of all layers as an SVG document.
std::string svg_picture(const Reading& reading, const Attention& attention);

}  // namespace date_reader
