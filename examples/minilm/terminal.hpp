// Text in columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace minilm {

// The text as it may be shown: controls are spaces, marks that steer the direction of writing are gone, and
// what is not UTF-8 is U+FFFD.
std::string printable(std::string_view text);

// How many columns a printable text takes.
std::size_t columns_of(std::string_view text);

// A printable text in just so many columns: filled up with spaces, or cut, with an ellipsis at its end.
std::string fitted(std::string_view text, std::size_t columns);

// A number with so many digits after the point.
std::string fixed(float value, int digits);

}  // namespace minilm
