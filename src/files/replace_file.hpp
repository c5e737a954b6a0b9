// SPDX-License-Identifier: Apache-2.0
// Writes files so that a reader never sees half of one. Every program writes its result files with these functions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace ladon::files {

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

// Appends bytes to the file that is being written. Throws Error if the bytes cannot be written.
using Sink = std::function<void(std::string_view)>;

// Passes the content of a file to a sink, piece by piece.
using Content = std::function<void(const Sink&)>;

// Like replace_file above, for a content that memory need not hold at once. Calls `content` exactly once, unless the
// file cannot be created. If `content` throws, the file stays as it is, and the exception reaches the caller. A device
// or a pipe keeps the bytes that it has received until then.
void replace_file(const std::string& path, const Content& content);

// Throws the Error that replace_file would throw now, by writing an empty temporary file and removing it. A program
// that computes for a long time calls this function first. The file stays as it is.
void check_replaceable(const std::string& path);

}  // namespace ladon::files

namespace files = ladon::files;
