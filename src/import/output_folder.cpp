// SPDX-License-Identifier: Apache-2.0
#include "output_folder.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "replace_file.hpp"
#include "safetensors.hpp"
#include "utf8.hpp"

namespace ladon::import {
namespace {

namespace fs = std::filesystem;

bool has_mark(const fs::path& file) {
  if (!fs::is_regular_file(fs::symlink_status(file))) return false;
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line.starts_with(file_mark(false)) || line.starts_with(file_mark(true));
}

}  // namespace

void expect_own_files(const fs::path& folder) {
  if (!fs::exists(fs::symlink_status(folder))) return;
  if (!fs::is_directory(folder)) throw files::Error(files::utf8_of(folder) + " is not a folder; name another one");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() && !has_mark(entry.path()))
      throw files::Error(files::utf8_of(entry.path()) +
                         ": ladon-import has not written this file; name another folder, or delete the file");
  }
}

void write_folder(const fs::path& folder, std::span<const SourceFile> sources) {
  expect_own_files(folder);
  const bool is_new = !fs::exists(fs::symlink_status(folder));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw files::Error(files::utf8_of(folder) + ": cannot make the folder: " + error.message());
  std::vector<files::Replacement> replacements;
  std::vector<std::string> paths;
  paths.reserve(sources.size()), replacements.reserve(sources.size());
  for (const SourceFile& source : sources) paths.push_back(files::utf8_of(folder / source.name));
  for (std::size_t i = 0; i < sources.size(); ++i) replacements.push_back({paths[i], sources[i].text});
  try {
    files::replace_files(replacements);
  } catch (...) {
    if (is_new) fs::remove(folder, error);
    throw;
  }
}

}  // namespace ladon::import
