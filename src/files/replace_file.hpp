// Writes files so that no one ever sees half of one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace files {

struct Replacement {
  std::string path;
  std::string_view content;
};

// All are written under other names beside them first, then renamed: where one cannot be written, none is. A device or
// a pipe is written as it is. Throws Error.
void replace_files(std::span<const Replacement> replacements);

void replace_file(const std::string& path, std::string_view content);

}  // namespace files
