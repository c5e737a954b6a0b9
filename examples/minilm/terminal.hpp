// Makes texts safe to print, and fits texts into the columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace minilm {

// Returns a text in which U+FFFD replaces bytes that are not UTF-8.
std::string valid(std::string_view text);

// Returns a text that is safe to print. Control characters become spaces, characters that set the writing direction are
// removed, and bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

// Returns the number of columns of a printable text.
std::size_t columns_of(std::string_view text);

// Returns a printable text in exactly `columns` columns: padded with spaces, or truncated with an ellipsis.
std::string fitted(std::string_view text, std::size_t columns);

// Returns a number with `digits` digits after the point.
std::string fixed(float value, int digits);

}  // namespace minilm
