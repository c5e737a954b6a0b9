// Pictures of the attention of each digit to the characters of the text.
#pragma once

#include <cstddef>
#include <string>

#include "reader.hpp"
#include "terminal.hpp"

namespace date_reader {

using examples::Colour;

// Returns the head of a layer whose digits have large weights on different characters. For each character, the measure
// takes the largest weight of any digit, and adds these weights. (The mean over the digits of each digit's largest
// weight is no useful measure. This mean is also large for a head in which all digits attend to one character.)
std::size_t pointing_head(const Attention& attention, std::size_t layer, std::size_t characters);

// Returns a picture of one head for the terminal, at most 80 columns wide. Each row is a digit with its probability.
// Each column is a character.
std::string terminal_picture(const Reading& reading, const Attention& attention, std::size_t layer, std::size_t head,
                             Colour colour);

// Returns all heads of all layers as an SVG document.
std::string svg_picture(const Reading& reading, const Attention& attention);

}  // namespace date_reader
