// What several tests need: a folder for files of their own, files that are almost right, and data that may be absent.
#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "model_files.hpp"

namespace stories {

// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device random;
    do {
      path_ = std::filesystem::temp_directory_path() / ("stories-test-" + std::to_string(random()));
    } while (!std::filesystem::create_directory(path_));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Writes a file and returns its path.
  [[nodiscard]] std::filesystem::path file(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

inline std::filesystem::path conformance_file() {
  const char* folder = std::getenv("LADON_SHARED_DIR");
  return std::filesystem::path(folder != nullptr ? folder : LADON_SHARED_DIR) / "conformance" / "stories260K.json";
}

inline std::filesystem::path model_file() { return default_folder() / model_file_name; }
inline std::filesystem::path tokenizer_file() { return default_folder() / tokenizer_file_name; }

}  // namespace stories

// Leaves the test case, with the words that CTest knows a skipped test by, where a file is not there.
#define STORIES_SKIP_WITHOUT(path)                       \
  if (!std::filesystem::exists(path)) {                  \
    MESSAGE("skipped: there is no " << (path).string()); \
    return;                                              \
  }                                                      \
  static_assert(true)
