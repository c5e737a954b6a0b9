// Makes bytes of a file safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace stories {

// Returns the text that the program writes for the piece of a token. A piece of one byte stays as it is if the byte is
// printable ASCII or white space, and otherwise becomes "", as in llama2.c. A longer piece becomes escaped(piece).
[[nodiscard]] std::string printable(std::string_view piece);

// Returns the text with \xHH in place of each byte that could control a terminal. These bytes belong to control
// characters (U+0000 to U+001F and U+007F to U+009F, without the white space U+0009 to U+000D), or are not UTF-8.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace stories
