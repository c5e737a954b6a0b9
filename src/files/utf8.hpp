// SPDX-License-Identifier: Apache-2.0
// Converts between paths and text in UTF-8. On Windows, the constructor path(std::string) takes the text for an older
// encoding, and main receives its arguments in this encoding. All programs therefore use these functions.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ladon::files {

inline std::filesystem::path path_of(std::string_view utf8) { return std::u8string(utf8.begin(), utf8.end()); }

inline std::string utf8_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

// Returns the arguments of main behind the name of the program, in UTF-8. On Windows, they are those of the process.
std::vector<std::string> arguments_of_main(int argc, const char* const* argv);

}  // namespace ladon::files
