// Defines helpers for the tests of several examples: error_of, content_of, has, TemporaryFolder and LADON_SKIP_WITHOUT.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

namespace examples {

// Runs `action`. If `action` throws an exception of type Error, returns the message of the exception. Otherwise,
// returns "".
template <class Error, class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::string content_of(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A folder that is removed at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device random;
    do {
      path_ = std::filesystem::temp_directory_path() / ("ladon-test-" + std::to_string(random()));
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

}  // namespace examples

// If the file `path` is absent, prints a message and returns from the test case. The message begins with "skipped:
// there is no", by which CTest recognises a skipped test.
#define LADON_SKIP_WITHOUT(path)                         \
  if (!std::filesystem::exists(path)) {                  \
    MESSAGE("skipped: there is no " << (path).string()); \
    return;                                              \
  }                                                      \
  static_assert(true)
