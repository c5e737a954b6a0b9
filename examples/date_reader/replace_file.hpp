// Writes a file so that no one ever sees half of it.
#pragma once

#include <string>
#include <string_view>

namespace date_reader {

// Under another name beside it first, then renamed; a device or a pipe is written as it is. Throws Failure.
void replace_file(const std::string& path, std::string_view content);

}  // namespace date_reader
