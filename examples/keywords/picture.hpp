// Draws a window of sound: the mel bands, and the attention of the class token to the frames.
#pragma once

#include <span>
#include <string>

#include "network.hpp"
#include "spotter.hpp"
#include "terminal.hpp"

namespace keywords {

// Draws the attention of the class token to the frames: a row for each layer, two frames in a column, 80 columns at
// most. Each row is divided by its largest value, which stands at the end of the row.
std::string terminal_picture(const ClassAttention& attention, examples::Colour colour);

// Draws the logarithms of the mel bands [frame_count][mel_bands], and below them the attention. Returns an SVG
// document.
std::string svg_picture(const std::string& title, std::span<const float> log_bands, const ClassAttention& attention);

}  // namespace keywords
