// Writes files so that a reader never sees half of one. Every program writes its result files with these functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace files {

struct Replacement {
  std::string path;
  std::string_view content;
};

// Writes each content into a temporary file of a random name in the same folder, and renames all of them after all
// contents are on the storage device. Where a content cannot be written, no file is replaced. A replaced file keeps its
// permissions (owner, group and others). Behind a link, the file that the link leads to is replaced. A device or a pipe
// is written directly. Throws Error, which names the file and the system's reason.
void replace_files(std::span<const Replacement> replacements);

void replace_file(const std::string& path, std::string_view content);

// Throws the Error that replace_file would throw now, by writing an empty temporary file and removing it. A program
// that computes for a long time calls this function first. The file stays as it is.
void check_replaceable(const std::string& path);

}  // namespace files
