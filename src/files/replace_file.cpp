// SPDX-License-Identifier: Apache-2.0
#include "replace_file.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "file_error.hpp"
#include "utf8.hpp"
#include "write_file.hpp"

namespace ladon::files {
namespace {

namespace fs = std::filesystem;

// Returns the file at the end of a chain of symbolic links, whether the file exists or not.
fs::path end_of_links(fs::path file, std::error_code& error) {
  constexpr int most_links = 40;  // the limit of Linux
  std::error_code not_a_link;
  for (int links = 0; fs::is_symlink(fs::symlink_status(file, not_a_link)); ++links) {
    if (links == most_links) error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    if (error) return file;
    file = file.parent_path() / fs::read_symlink(file, error);
  }
  return file;
}

// Returns a random file name. Other users cannot guess the name, so they cannot place a file or a link there in
// advance.
fs::path random_name() {
  std::random_device random;
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), ".%08x%08x%08x.part", random(), random(), random());
  return name.data();
}

// A class that replaces one file. A Part writes a temporary file and renames the temporary file to its final path. The
// destructor removes a temporary file that was not renamed.
class Part {
 public:
  Part(std::string path, Content content) : path_(std::move(path)), content_(std::move(content)) {
    std::error_code absent, error;
    const fs::file_status status = fs::status(path_of(path_), absent);
    is_special_ = fs::exists(status) && !fs::is_regular_file(status);
    is_folder_ = fs::is_directory(status);
    if (is_special_) return;
    if (fs::is_regular_file(status)) permissions_ = status.permissions() & fs::perms(0777);
    target_ = end_of_links(path_of(path_), error);
    if (error) fail(error);
  }
  ~Part() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove(temporary_, ignored);
  }
  Part(Part&& other) noexcept = default;
  Part& operator=(Part&&) = delete;

  void write_temporary() {
    if (is_folder_) fail(std::make_error_code(std::errc::is_a_directory));
    if (is_special_) return;
    OutputFile file;
    create_temporary(file);
    write_content(file);
    if (const auto error = file.finish(permissions_)) fail(error);
  }

  void put_in_place() {
    if (is_special_) {
      write_device();
      return;
    }
    std::error_code error;
    fs::rename(temporary_, target_, error);
    if (error) fail(error);
    temporary_.clear();
  }

  void make_durable() const {
    if (is_special_) return;
    const fs::path folder = target_.parent_path();
    if (const auto error = synchronise_folder(folder.empty() ? fs::path(".") : folder)) fail(error);
  }

 private:
  void create_temporary(OutputFile& file) {
    constexpr int most_tries = 8;
    std::error_code error = std::make_error_code(std::errc::file_exists);
    fs::path temporary;
    for (int i = 0; i < most_tries && error == std::errc::file_exists; ++i) {
      temporary = target_.parent_path() / random_name();
      // A replaced file keeps its permissions. The temporary file gets these permissions when its content is complete.
      // Until then, only the owner may read the temporary file.
      error = file.create(temporary, permissions_.has_value());
    }
    if (error) fail(error);
    temporary_ = temporary;
  }

  void write_content(OutputFile& file) const {
    content_([&](std::string_view bytes) {
      if (const auto error = file.write(bytes)) fail(error);
    });
  }

  void write_device() const {
    OutputFile device;
    if (const auto error = device.open_device(path_of(path_))) fail(error);
    write_content(device);
    if (const auto error = device.finish({})) fail(error);
  }

  [[noreturn]] void fail(const std::error_code& error) const {
    throw Error(path_ + ": cannot be written: " + error.message());
  }

  std::string path_;
  Content content_;
  fs::path target_;
  std::optional<fs::perms> permissions_;  // of the replaced file
  fs::path temporary_;                    // empty: there is no temporary file
  bool is_special_ = false;               // a device, a pipe or a folder
  bool is_folder_ = false;
};

}  // namespace

void replace_files(std::span<const Replacement> replacements) {
  std::vector<Part> parts;
  parts.reserve(replacements.size());
  for (const auto& [path, content] : replacements)
    parts.emplace_back(path, [bytes = content](const Sink& sink) { sink(bytes); });
  for (Part& part : parts) part.write_temporary();
  for (Part& part : parts) part.put_in_place();
  for (const Part& part : parts) part.make_durable();
}

void replace_file(const std::string& path, std::string_view content) {
  replace_file(path, [content](const Sink& sink) { sink(content); });
}

void replace_file(const std::string& path, const Content& content) {
  Part part(path, content);
  part.write_temporary();
  part.put_in_place();
  part.make_durable();
}

void check_replaceable(const std::string& path) {
  Part part(path, [](const Sink&) {});
  part.write_temporary();
}

}  // namespace ladon::files
