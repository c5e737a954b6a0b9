#include "replace_file.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <vector>

#include "file_error.hpp"
#include "write_file.hpp"

namespace files {
namespace {

namespace fs = std::filesystem;

// The file that a chain of links leads to, whether the file exists or not.
fs::path end_of_links(fs::path file, std::error_code& error) {
  constexpr int most_links = 40;  // as Linux
  std::error_code not_a_link;
  for (int links = 0; fs::is_symlink(fs::symlink_status(file, not_a_link)); ++links) {
    if (links == most_links) error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    if (error) return file;
    file = file.parent_path() / fs::read_symlink(file, error);
  }
  return file;
}

// A name that nobody can guess, so that nobody can have put a file or a link there.
fs::path random_name() {
  std::random_device random;
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), ".%08x%08x%08x.part", random(), random(), random());
  return name.data();
}

// A file on its way into its place. The destructor removes the temporary file unless it came to its place.
class Part {
 public:
  explicit Part(const Replacement& replacement) : replacement_(replacement) {
    std::error_code absent, error;
    const fs::file_status status = fs::status(replacement.path, absent);
    is_special_ = fs::exists(status) && !fs::is_regular_file(status);
    is_folder_ = fs::is_directory(status);
    if (is_special_) return;
    if (fs::is_regular_file(status)) permissions_ = status.permissions() & fs::perms(0777);
    target_ = end_of_links(replacement.path, error);
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
    constexpr int most_tries = 8;
    std::error_code error = std::make_error_code(std::errc::file_exists);
    fs::path temporary;
    for (int i = 0; i < most_tries && error == std::errc::file_exists; ++i) {
      temporary = target_.parent_path() / random_name();
      error = write_new_file(temporary, replacement_.content, permissions_);
    }
    if (error) fail(error);
    temporary_ = temporary;
  }

  void put_in_place() {
    std::error_code error;
    if (is_special_) {
      error = write_into(replacement_.path, replacement_.content);
    } else {
      fs::rename(temporary_, target_, error);
      if (!error) temporary_.clear();
    }
    if (error) fail(error);
  }

  void make_durable() const {
    if (is_special_) return;
    const fs::path folder = target_.parent_path();
    if (const auto error = synchronise_folder(folder.empty() ? fs::path(".") : folder)) fail(error);
  }

 private:
  [[noreturn]] void fail(const std::error_code& error) const {
    throw Error(replacement_.path + ": cannot be written: " + error.message());
  }

  const Replacement& replacement_;
  fs::path target_;
  std::optional<fs::perms> permissions_;  // of the file that is replaced
  fs::path temporary_;                    // empty: there is no temporary file
  bool is_special_ = false;               // a device, a pipe or a folder
  bool is_folder_ = false;
};

}  // namespace

void replace_files(std::span<const Replacement> replacements) {
  std::vector<Part> parts;
  parts.reserve(replacements.size());
  for (const Replacement& replacement : replacements) parts.emplace_back(replacement);
  for (Part& part : parts) part.write_temporary();
  for (Part& part : parts) part.put_in_place();
  for (const Part& part : parts) part.make_durable();
}

void replace_file(const std::string& path, std::string_view content) {
  const Replacement one{path, content};
  replace_files({&one, 1});
}

void check_replaceable(const std::string& path) {
  const Replacement empty{path, ""};
  Part part(empty);
  part.write_temporary();
}

}  // namespace files
