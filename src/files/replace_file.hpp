// SPDX-License-Identifier: Apache-2.0
// Replaces files so that a reader sees either the complete old content or the complete new content of a file. All
// programs of this project write their result files with replace_file or replace_files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace ladon::files {

struct Replacement {
  std::string path;  // in UTF-8, as all paths of this file
  std::string_view content;
};

// Writes the content of each replacement into a temporary file with a random name, in the folder of the replaced file.
// Renames the temporary files after all contents are on the storage device. If one of the contents cannot be written,
// no file is replaced. A replaced file keeps its permissions (owner, group and others). If a path is a symbolic link,
// the target of the link is replaced. A device or a pipe is written directly. Throws Error, which names the file and
// the system's reason.
void replace_files(std::span<const Replacement> replacements);

void replace_file(const std::string& path, std::string_view content);

// A Sink appends bytes to the file that replace_file is writing. Throws Error if the bytes cannot be written.
using Sink = std::function<void(std::string_view)>;

// A Content is a function that passes the bytes of a file to a sink, piece by piece.
using Content = std::function<void(const Sink&)>;

// Like replace_file above, but receives the content piece by piece, so that memory need not hold the whole content.
// Calls `content` exactly once, unless the file cannot be created. If `content` throws, the file does not change, and
// the exception reaches the caller. A device or a pipe keeps the bytes that were written before the exception.
void replace_file(const std::string& path, const Content& content);

// Checks whether replace_file could write the file now: writes an empty temporary file and removes the temporary file.
// Throws the Error that replace_file would throw. A program that computes for a long time calls this function first.
// The file itself does not change.
void check_replaceable(const std::string& path);

}  // namespace ladon::files

namespace files = ladon::files;
