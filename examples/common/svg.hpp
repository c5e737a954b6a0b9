// Declares functions that write parts of SVG documents. Coordinates and lengths are in pixels.
#pragma once

#include <string>
#include <string_view>

#include "palette.hpp"

namespace examples::svg {

// Returns the beginning of a document: the root element, a style sheet, and a dark background, so that the picture
// looks equal on light and dark pages. The style sheet defines the classes title, name and note, and contains the rules
// in `style`. The caller appends "</svg>\n" at the end of the document.
std::string head(int width, int height, std::string_view style);

// Returns the text with &amp;, &lt; and &gt; in place of &, < and >.
std::string escaped(std::string_view text);

// Returns an SVG element <text> with the CSS class css_class. `y` is the position of the text's baseline.
std::string text_at(double x, double y, const char* css_class, std::string_view text);

std::string rect(double x, double y, double width, double height, Rgb fill);

}  // namespace examples::svg
